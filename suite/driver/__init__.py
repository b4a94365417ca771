"""The parent: plans a campaign and drives its workers, round by round. Never imports jax."""
