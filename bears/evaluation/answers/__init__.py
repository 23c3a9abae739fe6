"""Measures of answers, one file each, and the rules that make texts comparable.

A docstring is also what ``python -m bears metrics`` prints: its first line is the definition, the
paragraph that begins with "Source:" says whose it is.
"""
