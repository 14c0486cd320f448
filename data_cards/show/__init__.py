"""Presents datasets to people.

Traces, differences and runs come in; terminal text and one self-contained HTML page go out.
"""
