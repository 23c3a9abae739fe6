"""The report: one HTML page about a benchmark and the systems that were measured on it."""
