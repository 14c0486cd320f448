"""Measures how often a model solves each problem, with and without thinking.

A pool comes in; what lies in the keep band goes out.
"""
