"""Everything a model is asked: pacing, budget, retries, kept replies."""
