# SPDX-License-Identifier: Apache-2.0
"""A viewer that runs, asked through its Unix socket: JSON-RPC 2.0, one message a line. docs/viewer.md has the verbs."""
from __future__ import annotations

import inspect
import json
import os
import re
import socket
import struct
import subprocess
import time
from typing import Any, Callable, Iterator

from .errors import Error, UsageError, make

__all__ = ["Viewer"]


def _folder() -> str:
    """Where the sockets of this user's viewers lie."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(runtime, "raylift") if runtime.startswith("/") else f"/tmp/raylift-{os.geteuid()}"


def _sockets() -> list[str]:
    """The paths of all sockets, the newest first."""
    try:
        with os.scandir(_folder()) as entries:
            found = [(entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in entries
                     if re.fullmatch(r"view-.*\.sock", entry.name)]
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)]


def _connected(path: str) -> socket.socket | None:
    """A connection to a viewer of this user; None if no viewer listens."""
    connection = socket.socket(socket.AF_UNIX)
    # The names of sockets are short; those of folders need not be.
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    except OSError:
        connection.close()
        return None
    finally:
        os.close(folder)
    if user != os.geteuid():
        connection.close()
        raise Error(f"{path}: the viewer there is another user's", "io", path)
    return connection


def _plain(value: Any) -> Any:
    """Arrays and paths as what JSON has."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise UsageError(f"a viewer takes no {type(value).__name__}")


class Viewer:
    """A raylift-view that runs. Its verbs are methods, made from what it says of itself:

        viewer = raylift.view(scene)
        viewer.look(eye=[0, -9000, 2000], target=[0, 0, 0])
        viewer.select("Sensor_12*")["selection"]["path"]
        viewer.screenshot("image.png")

    help(viewer.look) has the parameters, and verbs all names. Failures are raylift.Errors. Not to be used by several
    threads at once.
    """

    def __init__(self, to: int | str | os.PathLike[str] | None = None, *,
                 process: subprocess.Popen[bytes] | None = None, timeout: float = 60) -> None:
        """to: the number of a viewer's process, or the path of its socket; by default the newest viewer of this user.

        process: a viewer that was started just now. timeout: seconds until it must listen.
        """
        self._connection: socket.socket | None = None
        self.process = process
        self._to = process.pid if process is not None and to is None else to
        self._timeout = timeout
        self._input = b""
        self._told: list[tuple[str, Any]] = []
        self._number = 0
        self._methods: dict[str, Any] = {}
        if process is None:
            self._connect()

    # The connection.

    def _paths(self) -> list[str]:
        if self._to is None:
            return _sockets()
        if isinstance(self._to, int):
            return [os.path.join(_folder(), f"view-{self._to}.sock")]
        return [os.fspath(self._to)]

    def _connect(self) -> socket.socket:
        end = time.monotonic() + (self._timeout if self.process is not None else 0)
        while self._connection is None:
            for path in self._paths():
                if os.path.exists(path) and (connection := _connected(path)) is not None:
                    self._connection = connection
                    return connection
            if self.process is not None and self.process.poll() is not None:
                raise Error(f"raylift-view ended with {self.process.returncode}", "io")
            if time.monotonic() >= end:
                raise Error("no viewer of yours is running there" if self._to else "no viewer of yours is running", "io")
            time.sleep(0.02)
        return self._connection

    def _receive(self, end: float | None) -> dict[str, Any] | None:
        """The next message; None where none comes before `end`."""
        connection = self._connect()
        while b"\n" not in self._input:
            connection.settimeout(None if end is None else max(end - time.monotonic(), 1e-3))
            try:
                piece = connection.recv(1 << 16)
            except TimeoutError:
                return None
            except OSError:
                piece = b""
            if not piece:
                self.disconnect()
                raise Error("the viewer has ended", "io")
            self._input += piece
        line, _, self._input = self._input.partition(b"\n")
        message = json.loads(line)
        if not isinstance(message, dict):
            raise Error("the answer is not that of a viewer", "malformed")
        return message

    def disconnect(self) -> None:
        """Closes the connection, and leaves the viewer to itself. The next call connects again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._input = b""

    def __del__(self) -> None:
        self.disconnect()

    # Requests.

    def call(self, verb: str, /, **parameters: Any) -> Any:
        """Asks for a verb, and returns its result. Parameters that are None are left out."""
        given = {name: value for name, value in parameters.items() if value is not None}
        self._number += 1
        try:
            request = json.dumps({"jsonrpc": "2.0", "id": self._number, "method": verb, "params": given},
                                 default=_plain, allow_nan=False)
        except ValueError as error:
            raise UsageError(str(error)) from None
        try:
            self._connect().sendall(request.encode() + b"\n")
        except OSError:  # it has ended, perhaps with an answer
            pass
        while True:
            message = self._receive(None)
            assert message is not None
            if "method" in message:
                self._told.append((message["method"], message.get("params")))
            elif "error" in message:
                raise _error_of(message["error"])
            elif message.get("id") == self._number:
                return message.get("result")

    def notifications(self, timeout: float | None = None) -> Iterator[tuple[str, Any]]:
        """The notifications after subscribe(): name and parameters of each, until none comes for `timeout` seconds."""
        while True:
            if not self._told:
                message = self._receive(None if timeout is None else time.monotonic() + timeout)
                if message is None:
                    return
                if "method" in message:
                    self._told.append((message["method"], message.get("params")))
                continue
            yield self._told.pop(0)

    @property
    def verbs(self) -> dict[str, Any]:
        """What each verb is, by its name: description, params with their JSON schemas, result."""
        if not self._methods:
            self._methods = {method["name"]: method for method in self.call("rpc.discover")["methods"]}
        return self._methods

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.verbs:
            raise AttributeError(f"a viewer has no verb {name!r}; it has {', '.join(self.verbs)}")
        return _method(self, self.verbs[name])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.verbs]

    # The process.

    @property
    def args(self) -> Any:
        """The command line, where this program has started the viewer."""
        return None if self.process is None else self.process.args

    def wait(self, timeout: float | None = None) -> int:
        """Waits until the viewer ends, and returns its exit code. Only where this program has started it."""
        if self.process is None:
            raise UsageError("this program has not started the viewer")
        return self.process.wait(timeout)

    def close(self) -> None:
        """Closes the window, and waits for the end of the viewer where this program has started it."""
        if self.process is None or self.process.poll() is None:
            self.call("quit")
        self.disconnect()
        if self.process is not None:
            self.process.wait()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _error_of(error: dict[str, Any]) -> Error:
    data = error.get("data") or {}
    kind = data.get("kind", "malformed")
    return make(data.get("message", error.get("message", "")), kind, data.get("file", ""), data.get("element", ""),
                data.get("problem", ""), data.get("advice", ""), data.get("exit_code", 1))


def _method(viewer: Viewer, verb: dict[str, Any]) -> Callable[..., Any]:
    """A verb as a function, with a signature and a text for help()."""
    parameters = verb["params"]
    signature = inspect.Signature([
        inspect.Parameter(one["name"], inspect.Parameter.POSITIONAL_OR_KEYWORD,
                          default=inspect.Parameter.empty if one["required"] else None) for one in parameters])
    files = {one["name"] for one in parameters if one["schema"].get("format") == "path"}
    names = {alias: one["name"] for one in parameters for alias in one.get("x-aliases", ())}

    def ask(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **{names.get(name, name): value for name, value in kwargs.items()}).arguments
        except TypeError as error:
            raise TypeError(f"{verb['name']}(): {error}") from None
        for name in files & given.keys():
            given[name] = os.path.abspath(given[name])  # the viewer's folder is another one
        return viewer.call(verb["name"], **given)

    lines = [verb["description"] + ".", "", *(f"{one['name']}: {one['description']}." for one in parameters)]
    if verb["result"]["description"]:
        lines.append(f"Returns {verb['result']['description']}.")
    ask.__name__ = ask.__qualname__ = verb["name"]
    ask.__doc__ = "\n".join(lines)
    ask.__signature__ = signature  # type: ignore[attr-defined]
    return ask
