"""Shared parts of every training run: folder, settings, logs, starting model, resume.

A trainer comes in; a finished run folder goes out.
"""
