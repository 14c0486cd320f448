"""Rewards of completions.

Completions and ground truths come in; one float per completion goes out, or None where it is undecided.
"""
