"""Compares two answers by their kind: lists, sets, intervals, units, equations, words.

Trees come in; a verdict with a reason goes out.
"""
