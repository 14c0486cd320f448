"""Takes a pool through a stage, here or on Ray.

A stage and an artifact come in; the next artifact goes out, resumable at every batch.
"""
