"""The one kind of error of this package."""

from __future__ import annotations


class TrajectoryMapsError(ValueError):
    """Something was not as expected; the message says what was expected, what was received and what to do.

    ``code`` is stable and, where the TypeScript library has the same refusal, the same as there.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return (TrajectoryMapsError, (self.code, str(self)))
