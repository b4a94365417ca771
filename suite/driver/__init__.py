"""The parent process: plans a campaign and runs its workers, round by round. Never imports jax."""
