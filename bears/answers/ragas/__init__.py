"""The four metrics of RAGAS, computed by the package itself in an environment of its own.

Only `bears.answers.ragas.program` runs there, and it imports nothing else from bears.
"""
