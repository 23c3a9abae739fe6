"""Build retrieval benchmarks, or take those that exist, and measure retrievers on them."""
