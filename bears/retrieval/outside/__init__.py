"""Systems that others built: what they return, and which documents that is from."""
