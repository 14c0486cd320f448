"""Datasets on the Hub.

A folder comes in and goes out as one commit and a tag; a revision comes in and goes out as a verified folder.
"""
