"""Import of raw sources into one pool.

Files, folders and Hub ids in any common format come in; an artifact of problems goes out.
"""
