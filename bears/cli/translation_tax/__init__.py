"""What translation costs a retriever: questions and documents before and after it."""
