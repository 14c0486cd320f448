"""Parses an answer without executing it.

A cleaned text comes in; a tree of `curate.verify.nodes` goes out, or an error with the reason.
"""
