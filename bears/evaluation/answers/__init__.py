"""Measures of answers, one file each, and the rules that make texts comparable.

docs/definitions.md is made from the docstrings: the first line is the definition, and the
paragraph that begins with "Source:" says who defined it.
"""
