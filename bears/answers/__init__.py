"""Answers to a benchmark's questions: what is shown to whom answers, and what comes of it."""
