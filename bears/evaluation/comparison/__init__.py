"""Whether systems differ on a benchmark, by how much, and how certain that is."""
