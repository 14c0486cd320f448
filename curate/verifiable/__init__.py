"""Finds problems whose completions no verifier can judge.

A pool comes in; each row goes out kept, or dropped with the reason.
"""
