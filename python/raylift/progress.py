# SPDX-License-Identifier: Apache-2.0
"""Progress of long calls: an argument ``progress`` of theirs is None, True, or a function.

True draws a bar for each stage by tqdm where that is installed, and else nothing. A function gets the stage's name, how
much of it is done, and how much there is (0: not known), at most about 20 times a second; it cancels by returning False.
"""
from __future__ import annotations

import importlib
from typing import Any, Callable, Optional, Union

__all__ = ["Bar", "Progress", "listener"]

Progress = Union[None, bool, Callable[[str, int, int], Optional[bool]]]


class Bar:
    """A tqdm bar for each stage."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage or self._bar is None:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=total or None, desc=stage, unit="", unit_scale=True, leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None


def listener(progress: Progress) -> Callable[[str, int, int], Optional[bool]] | None:
    """The function that gets a call's progress, or None; called by the compiled module."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        return progress
    try:
        return Bar(importlib.import_module("tqdm.auto").tqdm)
    except ImportError:
        return None
