"""Rewriters: from a conversation to a search, or to the decision to search nothing."""
