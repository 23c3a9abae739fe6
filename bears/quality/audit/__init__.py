"""Whether a pool and its questions are sound: findings for people, without a model."""
