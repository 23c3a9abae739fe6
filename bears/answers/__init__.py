"""Answer a benchmark's questions from documents, and judge the answers."""
