"""Finds problems whose answer can be guessed from a closed list.

A pool comes in; each row goes out kept, dropped or reworded as open.
"""
