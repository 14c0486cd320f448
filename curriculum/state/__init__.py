"""The curriculum on disk, and its transfer between datasets and runs.

A curriculum comes in; files that people can read go out.
"""
