"""The folder that a stage, a run or a dataset writes.

Rows and facts come in; shards, a sealed manifest and the funnel go out.
"""
