"""What a completion is worth.

Completions and ground truths come in; a float a completion goes out, or None where it is undecided.
"""
