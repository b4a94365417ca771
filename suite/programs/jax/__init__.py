"""The timed steps in JAX. Beside the models, their layers and the ceilings, nothing else imports jax."""
