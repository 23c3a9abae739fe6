"""Verdicts on answers, and how reliable a judge is."""
