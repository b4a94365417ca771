"""The gate that every network has to pass before a time of it means anything: does it learn?"""
