"""Whether a benchmark is sound: verification and audit."""
