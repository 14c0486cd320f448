"""Canaries: problems whose truths are wrong on purpose, never learned from. Success on them raises an alarm."""
