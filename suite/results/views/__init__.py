"""The forms that results are handed on in: tables, answers of experiments, JSON documents."""
