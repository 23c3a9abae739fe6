"""Questions that a model writes about documents, and the filters that throw most of them away."""
