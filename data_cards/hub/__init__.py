"""Datasets on the Hub.

A folder comes in and becomes one commit and a tag; a revision comes back with every digest verified.
"""
