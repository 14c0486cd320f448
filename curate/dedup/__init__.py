"""Finds problems that differ only in wording.

A pool comes in; each row goes out kept, or dropped with the key of its twin.
"""
