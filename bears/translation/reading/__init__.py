"""A second, independent reading of translations: what was lost, changed or added, by a model."""
