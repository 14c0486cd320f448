"""The exception of a user's mistake: one line that states what is wrong, where, and what to do next."""


class UserError(Exception):
    """A mistake that the user can correct. Its text is one line: where, what is wrong, what to do next.

    `gradus` prints it without a traceback and exits with 1. Any other exception that escapes a command is a bug and
    keeps its traceback.
    """
