"""Rows that training and evaluation read. Artifacts or files come in; problems, prompts and examples go out."""
