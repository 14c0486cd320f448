"""Measures a model on a benchmark.

A model and problems come in; pass rates with intervals, samples and plots go out.
"""
