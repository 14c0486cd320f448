"""Reads an answer without running it.

A cleaned text comes in; a tree of `curate.verify.nodes` goes out, or an error that says why not.
"""
