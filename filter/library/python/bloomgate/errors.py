"""The exception of this module."""
from __future__ import annotations

from typing import Tuple, Type


class Error(Exception):
    """What Bloomgate refuses. `name` is a stable word, such as "bad_magic"; the text is for a person."""

    def __init__(self, name: str, text: str):
        super().__init__(text)
        self.name = name

    def __reduce__(self) -> Tuple[Type[Error], Tuple[str, str]]:
        # From a worker process back to the one that asked it.
        return (Error, (self.name, str(self)))
