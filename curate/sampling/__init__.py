"""Asks a model until each problem has the samples it is owed.

Rows and an engine come in; judged samples and pass rates go out.
"""
