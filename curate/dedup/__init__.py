"""Finds problems that say the same in other words.

A pool comes in; each row goes out kept, or dropped with the key of its twin.
"""
