# SPDX-License-Identifier: Apache-2.0
"""raylift's exceptions."""
from __future__ import annotations

import re

__all__ = ["Error", "InvalidDataError", "UsageError", "OutOfMemoryError"]


class Error(RuntimeError):
    """raylift's exception. Its text reads: what is wrong, where, what to do.

    ``kind`` is one of io, malformed, unsupported, limit, out_of_host_memory, out_of_device_memory, device, no_display,
    usage, cancelled, system. ``file`` and ``element`` say where, and are empty where that is not known. ``problem`` and
    ``advice`` are the text's first and last part, and ``exit_code`` is what the program raylift ends with.
    """

    def __init__(self, text: str, kind: str = "usage", file: str = "", element: str = "", problem: str = "",
                 advice: str = "", exit_code: int = 2) -> None:
        super().__init__(text)
        self.kind = kind
        self.file = file
        self.element = element
        self.problem = problem or text
        self.advice = advice
        self.exit_code = exit_code

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.kind, self.file, self.element, self.problem, self.advice, self.exit_code)


class UsageError(Error, ValueError):
    """A wrong argument: kind ``usage``."""


class InvalidDataError(Error, ValueError):
    """Invalid numbers in memory, not in a file: kind ``malformed``, without a ``file``."""


class OutOfMemoryError(Error, MemoryError):
    """Kind ``out_of_host_memory`` or ``out_of_device_memory``."""


def in_argument_words(text: str) -> str:
    """A text of the library, with Python's arguments for the members of its options."""
    text = re.sub(r"\bLoadLimits::(\w+)", r'limits={"\1": ...}', text)
    return re.sub(r"\b(?:Load|Upload|Simulation)Options::(?:fineness\.)?(\w+)", r"\1=", text)


def make(text: str, kind: str, file: str, element: str, problem: str, advice: str, exit_code: int) -> Error:
    """The exception of a kind; called by the compiled module."""
    text, problem, advice = map(in_argument_words, (text, problem, advice))
    if kind == "malformed" and not file:
        return InvalidDataError(text, kind, file, element, problem, advice, exit_code)
    family = {"usage": UsageError, "out_of_host_memory": OutOfMemoryError, "out_of_device_memory": OutOfMemoryError}
    return family.get(kind, Error)(text, kind, file, element, problem, advice, exit_code)
