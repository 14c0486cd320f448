"""Scripts that run inside the sandbox: the solver with the completion's program, the examiner with the tests.

Frames come in and go out. Files here import only the standard library, and run on the machine's own Python 3.10+.
"""
