"""Kinds of problems that a rule judges: instructions, JSON, sets of words, puzzles.

In comes the ground truth of a problem, which states the rule, and the text after the reasoning; out goes whether the
text meets it. Rules run in the killable workers, as a user's own verifiers do.
"""
