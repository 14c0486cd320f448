"""The exception of a user's mistake: one line that states what is wrong, where, and what to do next."""


class UserError(Exception):
    """A mistake that the user can mend. Its text is one line: where, what is wrong, what to do next.

    The door prints it without a traceback and exits 1. Anything else that escapes a command is a bug and keeps its
    traceback.
    """
