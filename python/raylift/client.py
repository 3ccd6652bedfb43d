# SPDX-License-Identifier: Apache-2.0
"""A client of ``raylift serve``: gensteps or photons of events in, hits out."""
from __future__ import annotations

import json
import os
from typing import Any, Literal, Sequence

import numpy
import numpy.typing

from . import _raylift
from .errors import UsageError
from .photons import Photons

__all__ = ["Client", "ClientResult"]

AnyArray = numpy.typing.NDArray[Any]


class ClientResult:
    """The result of a request.

    ``hits`` are the detected photons, :class:`Photons`, ordered by number; with ``hits="compact"`` an array of records
    ``channel, time, wavelength, flags``. ``photons`` is how many were simulated, ``ends`` how they ended, ``steps`` the sum
    of their steps. ``finals`` (all photons at their ends), ``sequences`` ((N, 2, 2) of uint64, histories) and ``record``
    ((N, 32) of ``photon_dtype``, the emission and the first 31 steps of each photon) are None where they were not wanted.
    ``event``, ``seed``, ``first`` and ``ticket`` are the request's.
    """

    def __init__(self, values: dict[str, Any], compact: bool, finals: bool, sequences: bool,
                 record: bool) -> None:
        self.ticket: int = values["ticket"]
        self.event: int = values["event"]
        self.seed: int = values["seed"]
        self.first: int = values["first"]
        self.photons: int = values["photons"]
        self.steps: int = values["steps"]
        self.ends: dict[str, int] = values["ends"]
        self.hit_count: int = values["hit_count"]
        self.hits: Any = values["hits"] if compact else Photons(values["hits"])
        self.finals: Photons | None = Photons(values["finals"]) if finals else None
        self.sequences: AnyArray | None = values["sequences"] if sequences else None
        self.record: AnyArray | None = values["record"] if record else None

    def __repr__(self) -> str:
        return f"<raylift.ClientResult of event {self.event}: {self.hit_count} hits of {self.photons} photons>"


class Client:
    """A connection to one or more servers of the same geometry; may be used from any thread.

    Args:
        address: ``ipc://PATH`` or ``tcp://HOST:PORT``, several as a list; None: the user's server on this machine.
        keys: The file of a client's keys, for ``tcp://``.
        digest: The geometry's, as ``raylift serve --digest SCENE`` prints it; a server of another one refuses requests.
        shared_memory: Whether large arrays may be passed in shared memory, with ``ipc://``.
        patience: Seconds without any server, after which requests fail.

    Raises:
        raylift.Error: of kind ``usage`` for an address or keys that can't be used, ``unsupported`` where raylift was built
            without ZeroMQ.
    """

    def __init__(self, address: str | Sequence[str] | None = None, *, keys: str | os.PathLike[str] | None = None,
                 digest: str | None = None, shared_memory: bool = True, patience: float = 60.0) -> None:
        addresses = [] if address is None else address.split(",") if isinstance(address, str) else list(address)
        try:
            wanted = bytes.fromhex(digest or "")
        except ValueError:
            raise UsageError(f"'{digest}' is no digest: it has 64 hexadecimal digits") from None
        self._client = _raylift._Client(addresses=addresses, keys="" if keys is None else os.fspath(keys), digest=wanted,
                                        shared_memory=shared_memory, patience=patience)
        self._wanted: dict[int, tuple[bool, bool, bool, bool]] = {}

    def submit(self, *, gensteps: Any = None, photons: Any = None, source: str | None = None, count: int | None = None,
               expected: int | None = None, event: int = 0, seed: int = 0, first: int = 0, max_steps: int = 10_000,
               max_time: float = float("inf"), hits: Literal["rows", "compact", "none"] = "rows", finals: bool = False,
               sequences: bool = False, record: bool = False) -> int:
        """Sends the light of an event, and returns its ticket at once.

        Args:
            gensteps: (G, 6, 4) of float32, Opticks's layout.
            photons: Or (N, 4, 4) of float32, or records of ``photon_dtype``.
            source: Or the text of a source, such as ``"point:0,0,0"``, which needs ``count``.
            count: How many photons from ``first`` on; None: all.
            expected: Photons of the whole array; another number is an error.
            event: Any number, which the result repeats.
            seed: Of the event's random numbers.
            first: The number of the first photon.
            max_steps: Steps after which a photon is truncated.
            max_time: Time in ns after which it is.
            hits: ``"rows"`` of 64 bytes, ``"compact"`` of 16, or ``"none"``: counts alone.
            finals: Whether all photons at their ends are wanted.
            sequences: Whether their histories are.
            record: Whether their steps are, 2 KiB a photon.

        Raises:
            raylift.UsageError: for none or several of the first three, or an array of another shape or type.
        """
        given = [name for name, value in (("gensteps", gensteps), ("photons", photons), ("source", source)) if value is not None]
        if len(given) != 1:
            raise UsageError("a request has either gensteps, photons or a source" + (f", not {' and '.join(given)}" if given else ""))
        if hits not in ("rows", "compact", "none"):
            raise UsageError(f"hits='{hits}' is none of 'rows', 'compact', 'none'")
        data: bytes | AnyArray
        if source is not None:
            data = source.encode()
        else:
            rows = 6 if gensteps is not None else 4
            array = numpy.ascontiguousarray(gensteps if gensteps is not None else photons)
            is_records = array.ndim == 1 and array.dtype.itemsize == 16 * rows
            if not is_records and (array.dtype != numpy.float32 or array.shape[1:] != (rows, 4)):
                raise UsageError(f"{given[0]} are (N, {rows}, 4) of float32, not {array.shape} of {array.dtype}")
            data = array.view(numpy.uint8)
        ticket = self._client.submit(given[0], data, count=count, expected=expected, event=event, seed=seed, first=first,
                                     max_steps=max_steps, max_time=max_time, hits=hits, finals=finals, sequences=sequences,
                                     record=record)
        self._wanted[ticket] = (hits == "compact", finals, sequences, record)
        return ticket

    def ready(self, ticket: int) -> bool:
        """Whether :meth:`wait` would return at once."""
        return self._client.ready(ticket)

    def wait(self, ticket: int, timeout: float | None = None) -> ClientResult:
        """Waits for a result, which can be had once. Raises what the request failed with, or an Error of kind ``io`` after
        ``timeout`` seconds, after which the request goes on."""
        return self._result(self._client.wait(ticket, timeout))

    def next(self, timeout: float | None = None) -> ClientResult | None:
        """Any result that has come, the earliest first; None where no request is open, or after ``timeout`` seconds."""
        values = self._client.next(timeout)
        return None if values is None else self._result(values)

    def cancel(self, ticket: int) -> None:
        """Takes a request back."""
        self._client.cancel(ticket)
        self._wanted.pop(ticket, None)

    @property
    def pending(self) -> int:
        """Requests without a result."""
        return self._client.pending()

    @property
    def server(self) -> dict[str, Any]:
        """What the server is: its digest, scene, devices and limits. docs/service.md lists all."""
        return dict(json.loads(self._client.welcome()))

    @property
    def status(self) -> dict[str, Any]:
        """What the server does: counters in total, by client and by device."""
        return dict(json.loads(self._client.status()))

    def _result(self, values: dict[str, Any]) -> ClientResult:
        return ClientResult(values, *self._wanted.pop(values["ticket"]))
