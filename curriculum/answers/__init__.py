"""Answers of completions to a problem, and whether most agree on another one than the truth."""
