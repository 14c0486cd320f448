"""Runs a stage over a pool, in this process or on Ray.

A stage and an artifact come in; the next artifact goes out, resumable at every batch.
"""
