"""What a model was asked and paid for: planned, asked once, kept, published, replayed.

This room knows of no use of it. What a use brings is in `bears.llm.replies.use`.
"""
