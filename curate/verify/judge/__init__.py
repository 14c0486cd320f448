"""Asks a model about pairs that the rules leave undecided.

A question and two answers come in; a verdict goes out, and replies are cached on disk.
"""
