"""Records of measurements and their analysis."""
