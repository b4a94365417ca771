"""Trees of JAX beside those of XGBoost, on tables small enough for a test."""
