"""Languages: their scripts, tokens and sentences, and the gates that check texts in them."""
