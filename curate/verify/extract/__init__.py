"""Finds the final answers in a completion.

The text of a model comes in; its answers go out, or the reason for having none.
"""
