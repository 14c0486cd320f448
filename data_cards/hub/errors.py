"""Errors of the Hub and the network as one line that states what was done and holds no secret.

The Hub's client raises its own errors and those of its HTTP library; their texts hold URLs, request ids and long
advice. `plainly` turns each into a `UserError` with only the status and the dataset's name.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import httpx  # the client passes on its HTTP library's errors and exports it

from curate.errors import UserError

BY_STATUS: Final = {
    401: "the Hub refused the token (missing, expired or revoked); log in with `hf auth login` and run again",
    403: "the token lacks the permission; use one with write access to the dataset",
    409: "somebody else changed it meanwhile; check their change and run the same command again",
    412: "somebody else changed it meanwhile; check their change and run the same command again",
    413: "the Hub rejected a file as too large; build the dataset with smaller texts",
    429: "the Hub received too many requests; wait some minutes and run the same command again",
}
NO_PLACE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.ENOTDIR, errno.EEXIST)


@contextmanager
def plainly(where: str, afterwards: str) -> Iterator[None]:
    """Turn the Hub's errors into one line about `where`; `afterwards` states what was and was not done."""
    try:
        yield
    except UserError:
        raise
    except (HFValidationError, LocalTokenNotFoundError) as error:
        raise UserError(f"{where}: {str(error).splitlines()[0]}") from None
    except (RuntimeError, OSError, EntryNotFoundError, httpx.HTTPError, ValueError) as error:
        # an upload thread wraps its error in a RuntimeError
        cause = error.__cause__ if type(error) is RuntimeError and error.__cause__ is not None else error
        if (line := _line(cause)) is None:
            raise
        raise UserError(f"{where}: {line}; {afterwards}") from None


def _line(error: BaseException) -> str | None:
    """The message for an error, or None if it is not the Hub's or the network's."""
    if isinstance(error, RevisionNotFoundError):
        return "has no such revision, tag or branch"
    if isinstance(error, GatedRepoError):
        return "is gated and this token has no access; request it on its page"
    if isinstance(error, RepositoryNotFoundError):
        return "no such dataset, or this token has no access; check the name, or log in with `hf auth login`"
    if isinstance(error, HfHubHTTPError):
        status = error.response.status_code
        return BY_STATUS.get(status, f"the Hub answered with an error ({status}); try again later")
    if isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled | httpx.TransportError | ConnectionError):
        return "the Hub cannot be reached; check the network, HF_ENDPOINT and HF_HUB_OFFLINE"
    if isinstance(error, EntryNotFoundError):
        return "lacks a file that every Gradus dataset has"
    if isinstance(error, ValueError) and "Invalid metadata" in str(error):
        return f"the Hub rejected the card's head ({' '.join(str(error).split())})"
    if isinstance(error, OSError) and "Consistency check failed" in str(error):
        return "a file arrived damaged"
    if isinstance(error, OSError) and error.errno in NO_PLACE:
        return f"cannot write on this machine ({error.strerror})"
    return None
