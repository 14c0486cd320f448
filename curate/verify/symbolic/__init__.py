"""Runs math-verify in killable workers, for notation that the grammar does not support.

A pair of texts comes in; a verdict goes out.
"""
