"""The measures, one file each.

Every measure is a pure function of the `JudgedRankings` of n questions and of ``k``: how many
documents from the top count, at least 1, or None for the whole ranking. It returns one value per
question, shape (n,), NaN if undefined. The missing places of a ranking shorter than ``k`` count as
not relevant.

docs/definitions.md is made from the docstrings: the first line is the definition, and the
paragraph that begins with "Source:" says who defined it.
"""
