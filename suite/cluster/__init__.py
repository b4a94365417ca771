"""A campaign over many machines: its workloads split into jobs of a cluster, each a campaign on a whole node.

A workload's CPU and GPU sides and its baselines stay in one job, so compared numbers come from one machine. All jobs
write to one folder on a shared disk.
"""
