"""Verify and audit a benchmark."""
