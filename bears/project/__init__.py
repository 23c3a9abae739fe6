"""The project in which a command runs: its configuration, records, systems and uses of models."""
