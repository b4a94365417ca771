"""Every page of the built site as its readers meet it: in Chromium, from files, with scripts and without."""
