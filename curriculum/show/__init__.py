"""Shows a run's curriculum: a status screen, a problem's history, a plot.

Saved state comes in; text and PNG go out.
"""
