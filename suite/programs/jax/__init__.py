"""The timed steps in JAX. Only this room, the models, their layers and the ceilings import jax."""
