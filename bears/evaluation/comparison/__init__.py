"""Whether systems differ on a benchmark, by how much, and how sure that is."""
