"""Samples a model until each problem has the samples that it needs.

Rows and an engine come in; judged samples and pass rates go out.
"""
