"""The exception of a user's mistake: one line that states what is wrong, where, and what to do next."""


class UserError(Exception):
    """A mistake that the user can correct. Its text is one line: where, what is wrong, what to do next.

    `gradus` prints it without a traceback and exits with 1. Any other exception that escapes a command is a bug and
    keeps its traceback.
    """


class Stopped(UserError):  # noqa: N818  # a stop, not a mistake
    """The user, or the system, stopped a command; the text states what is kept. Its exit status is 128 + the signal."""

    def __init__(self, message: str, signal: int = 2) -> None:
        super().__init__(message)
        self.exit_status = 128 + signal
