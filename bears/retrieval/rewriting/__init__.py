"""Asking well: a conversation becomes what is searched, or the decision to search nothing."""
