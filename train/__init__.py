"""Trains on what a curriculum draws, with TRL, and measures the result.

Artifacts and a model come in; run folders and models go out.
"""
