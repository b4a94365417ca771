"""A campaign over many machines: its workloads dealt to jobs of a cluster, each a campaign of its own on a whole node.

A workload's both sides and its baselines stay in one job, so that whatever is compared was measured on one machine. The
folder that all of them write to lies on a disk that they share.
"""
