"""Runs programs against tests in a sandbox. A completion and a problem's tests come in; a verdict goes out."""
