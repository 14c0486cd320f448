"""Tasks for agents: a repository, an instruction and hidden tests.

Folders of tasks or a project with tests come in; tasks that are proven solvable go out, each with a digest.
"""
