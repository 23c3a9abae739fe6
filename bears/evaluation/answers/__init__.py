"""Measures of answers, one file each, and the rules that make texts comparable.

``bears metrics`` prints the docstrings: the first line is the definition, and the paragraph that
begins with "Source:" says who defined it.
"""
