"""Audit questions and documents without a model: findings for people to read."""
