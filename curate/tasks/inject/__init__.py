"""Makes tasks from a project with tests, by bugs on purpose.

A source distribution or a folder comes in; tasks go out whose hidden tests fail with the bug and pass without it.
"""
