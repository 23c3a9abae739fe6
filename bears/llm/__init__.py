"""Everything a model is asked: pacing, budget, retries, batches, kept replies."""
