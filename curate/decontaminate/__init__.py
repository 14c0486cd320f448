"""Finds problems that occur in a benchmark.

A pool and benchmarks come in; each row goes out kept, or dropped with the item it matches.
"""
