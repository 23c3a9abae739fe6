"""Asking a model: online or in batches, paced, within a budget, each answer paid for once."""
