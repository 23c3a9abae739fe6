"""Benchmarks from a folder of documents: texts, Markdown, HTML, PDF and Word."""
