"""Shows doubtful problems to people and applies their rulings.

Artifacts come in; a log of rulings and a corrected artifact go out.
"""
