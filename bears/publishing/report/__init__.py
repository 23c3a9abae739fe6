"""The report: one HTML page about a benchmark and the systems measured on it."""
