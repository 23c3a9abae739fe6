"""Build retrieval benchmarks from raw question-answering data and measure retrievers on them."""
