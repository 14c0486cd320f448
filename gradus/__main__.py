"""Runs the command line as `python -m gradus`."""

from gradus.door import main

main()
