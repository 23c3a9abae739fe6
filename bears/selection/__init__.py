"""What a user selected: the configuration, records, systems, and uses of models."""
