"""Judges changes to a repository by hidden tests, and runs an agent's commands in a box.

A task's files, tests and a set of changed files come in; a verdict with its evidence goes out.
"""
