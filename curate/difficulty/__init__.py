"""Measures how often a model solves each problem, with and without thinking.

A pool comes in; problems inside the keep band go out.
"""
