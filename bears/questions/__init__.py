"""Questions that a model writes about documents, and all that is thrown away of them."""
