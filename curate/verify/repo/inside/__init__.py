"""Programs that run in a box: the keeper of its disk, and the reporter of test outcomes.

They use the standard library alone, and `wire` of the code sandbox.
"""
