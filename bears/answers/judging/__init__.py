"""Verdicts on answers, and how far a judge is to be believed."""
