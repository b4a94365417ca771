"""The child process that measures: from import to samples."""
