"""The steps that a reader can copy, `site/steps`, beside the suite's own."""
