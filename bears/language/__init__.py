"""Languages: what is known of one, and what can be told of a text in it by rule alone."""
