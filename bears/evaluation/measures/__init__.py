"""The measures, one file each.

Every measure is a pure function of the `JudgedRankings` of n questions and of ``k``: how many
documents
from the top count, at least 1, or None for the whole ranking. It returns one value a question,
shape (n,), NaN where it is undefined. A ranking shorter than ``k``, or empty, is one whose
remaining places hold nothing relevant.

A docstring is also what ``python -m bears metrics`` prints: its first line is the definition, the
paragraph that begins with "Source:" says whose it is.
"""
