"""Shows a run's curriculum: one screen, one problem's history, one picture.

Saved state comes in; text and PNG go out.
"""
