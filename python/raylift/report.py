# SPDX-License-Identifier: Apache-2.0
"""The residency report of an upload."""
from __future__ import annotations

import html
import json
from typing import Any

__all__ = ["Report"]


class Report(dict[str, Any]):
    """A residency report, with the keys of ``raylift upload --json``; it prints as a table, in a notebook too."""

    def __init__(self, text: str, table: str) -> None:
        super().__init__(json.loads(text))
        self.table = table

    def __repr__(self) -> str:
        return self.table

    def _repr_html_(self) -> str:
        columns = ["name", "bytes", "where", "device_bytes", "host_bytes", "why"]
        head = "".join(f"<th>{column.replace('_', ' ')}</th>" for column in columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(array.get(column, '')))}</td>" for column in columns) + "</tr>"
            for array in self["arrays"])
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
