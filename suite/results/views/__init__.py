"""Presentations of results: tables, results of experiments, JSON documents."""
