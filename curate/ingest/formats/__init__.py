"""The file formats of raw pools: a file or an archive comes in, rows with their places go out.

A row that cannot be read has a reason in place of its record, and reading continues after it.
"""
