"""The lab: a site that simulates in the browser, served on this machine or as one HTML file.

`make lab` builds the site from `web/` into `SITE`; a wheel has it. It is served on the loopback
address only, and only to pages of its own: names that others made lead to this address (DNS
rebinding) are refused by the `Host` header.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from spillgate import scenario
from spillgate.errors import InputError, OutputError
from spillgate.lint import is_scenario
from spillgate.metrics import format_value
from spillgate.visible import escaped
from spillgate.whole import replacing

SITE = Path(__file__).parent / "_lab"
"""Where the built site is."""

ALONE = "spillgate-lab.html"
"""The form of it that is one file."""

TYPES = {
    "index.html": "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
    "worker.js": "text/javascript; charset=utf-8",
    "spillgate.wasm": "application/wasm",
    ALONE: "text/html; charset=utf-8",
}
"""The files of the site, with their types; nothing else of the folder is served."""

ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""How files of the site are compressed beside themselves, the shortest first."""

PROJECT = "project.json"
"""What the page loads at its start: a project, or `null`."""

MOST_BYTES = 32_000_000
"""What the files of a project may have together: a page holds them in memory, some twice."""

_PAGES = {"scenario": "scenario", "config": "router", "show": "router"}
"""The page of the lab that is for a kind of file."""

_SLOT = re.compile(r'(<script type="application/json" id="spillgate-project">)[^<]*(?=</script>)')
"""Where the one-file form keeps its project; as data, which is never run."""


@dataclass(frozen=True)
class Project:
    """What the page begins with.

    Attributes:
        kind: `scenario`, `config` (of a router) or `show` (what `show policy-map interface` said).
        path: Which of the files it is.
        files: All of them, by the names that a scenario has for them.
        platform: Whose meaning the commands of a configuration have.
    """

    kind: str
    path: str
    files: Mapping[str, bytes]
    platform: str = "ios"

    @classmethod
    def of(cls, file: Path, *, platform: str = "ios", confine: bool = False) -> Project:
        """Reads and checks a file with those that it names.

        Args:
            file: A scenario (`.yaml`, `.yml`, `.json`), a router configuration, or an output of
                `show policy-map interface`.
            platform: Whose meaning the commands of a configuration have.
            confine: Of a scenario: refuses files outside its folder.

        Raises:
            InputError: If it is wrong, or has more than `MOST_BYTES` with its files.
        """
        if is_scenario(file):
            described = scenario.check(file, confine=confine)
            return cls("scenario", file.name, _read(file, (file.name, *described.files)))
        files = _read(file, (file.name,)) if file.is_file() else {}
        if scenario.is_show_output(file):
            scenario.offered(file)
            return cls("show", file.name, files)
        scenario.understand(file, platform=platform)
        return cls("config", file.name, files, platform)

    @property
    def page(self) -> str:
        """Name of the page that shows it."""
        return _PAGES[self.kind]

    def document(self) -> str:
        """It as JSON: texts as they are, other files in base64."""
        record = {
            "kind": self.kind,
            "path": self.path,
            "platform": self.platform,
            "files": {name: _content(data) for name, data in self.files.items()},
        }
        return escaped(json.dumps(record, ensure_ascii=False))


def _read(file: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Files by their names seen from the first's folder; raises `InputError`."""
    total = 0
    found = {}
    for name in dict.fromkeys(names):
        path = file.parent / name
        try:
            total += path.stat().st_size
            if total > MOST_BYTES:
                among = "it has" if path == file else f"with {path} it has"
                msg = (
                    f"{file}: error: {among} {format_value(total, 'B')}; the lab takes "
                    f"{format_value(MOST_BYTES, 'B')} at most, as a page holds all of it in "
                    "memory\n    hint: spillgate run and spillgate profile read captures of any "
                    "length"
                )
                raise InputError(msg)
            found[name] = path.read_bytes()
        except OSError as error:
            msg = f"{path}: error: cannot read it: {error.strerror or error}"
            raise InputError(msg) from error
    return found


def _content(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


@dataclass(frozen=True)
class Body:
    """What is answered to a path, plain and in the encodings that it is there in."""

    type: str
    plain: bytes
    packed: Mapping[str, bytes] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def site() -> dict[str, Body]:
    """The built site by path.

    Raises:
        InputError: If it is not built.
    """
    found = {}
    for name, kind in TYPES.items():
        try:
            plain = (SITE / name).read_bytes()
        except OSError:
            msg = (
                "error: this build of Spillgate has no lab: `make lab` builds it (Node and the "
                "target wasm32-unknown-unknown of rustup are needed); wheels have it"
            )
            raise InputError(msg) from None
        files = {encoding: SITE / f"{name}{suffix}" for encoding, suffix in ENCODINGS.items()}
        packed = {of: file.read_bytes() for of, file in files.items() if file.is_file()}
        # Its own policy would forbid what stands in one file: it is to be kept, not shown here.
        keep = {"Content-Disposition": f'attachment; filename="{name}"'} if name == ALONE else {}
        found[f"/{name}"] = Body(kind, plain, packed, keep)
    return found


def alone(project: Project | None = None) -> str:
    """The one-file form, which begins with a project if there is one.

    Raises:
        InputError: If the site is not built.
    """
    text = site()[f"/{ALONE}"].plain.decode("utf-8")
    if project is None:
        return text
    # `<` alone ends a script, or begins a comment in it.
    data = project.document().replace("<", "\\u003c")
    filled, count = _SLOT.subn(lambda slot: slot[1] + data, text, count=1)
    if not count:
        msg = f"error: {SITE / ALONE} has no place for a project: `make lab` builds it anew"
        raise InputError(msg)
    return filled


def save(path: Path, project: Project | None = None, *, force: bool = False) -> None:
    """Writes the one-file form.

    Raises:
        InputError: If the site is not built.
        OutputError: If the file is there already (without `force`) or cannot be written.
    """
    text = alone(project)
    if path.exists() and not force:
        msg = f"{path} exists; add --force to replace it"
        raise OutputError(msg)
    try:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        msg = f"cannot write the lab to {path}: {error.strerror or error}"
        raise OutputError(msg) from error


_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def policy(index: str) -> str:
    """The security policy of the served form: that of its page, which no other page may frame.

    Args:
        index: The page.

    Raises:
        InputError: If it has none.
    """
    found = _POLICY.search(index)
    if found is None:
        msg = f"error: {SITE / 'index.html'} has no security policy: `make lab` builds it anew"
        raise InputError(msg)
    # A page itself cannot say who may frame it.
    return f"{found[1]}; frame-ancestors 'none'"


class Lab(ThreadingHTTPServer):
    """The server of the lab, on the loopback address.

    Attributes:
        url: Its address in a browser.
        bodies: What it serves, by path.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, project: Project | None = None, port: int = 0) -> None:
        """Takes the port; 0 for any that is free.

        Raises:
            InputError: If the site is not built.
            OutputError: If the port is taken or must not be used.
        """
        self.bodies = site()
        document = "null" if project is None else project.document()
        data = document.encode("utf-8")
        kind = "application/json; charset=utf-8"
        self.bodies[f"/{PROJECT}"] = Body(kind, data, {"gzip": gzip.compress(data, 6, mtime=0)})
        self.bodies["/"] = self.bodies["/index.html"]
        self.headers = {
            "Content-Security-Policy": policy(self.bodies["/"].plain.decode("utf-8")),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            msg = f"port {port} cannot be used: {error.strerror or error}"
            raise OutputError(msg) from error
        page = "" if project is None else f"#/{project.page}"
        self.url = f"http://127.0.0.1:{self.server_port}/{page}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request's `Host` may be."""
        of = ("127.0.0.1", "localhost")
        bare = of if self.server_port == 80 else ()
        return (*(f"{name}:{self.server_port}" for name in of), *bare)

    def open_browser(self) -> None:
        """Opens the address in the user's browser, beside what goes on here."""
        # Only where it is wanted: it looks for browsers when it is imported.
        import webbrowser

        # A browser in the terminal returns when it is closed.
        threading.Thread(target=webbrowser.open, args=(self.url,), daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD of known paths; the same headers stand on every answer."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    server: Lab
    _REASONS: ClassVar = {
        400: "a request to the lab names its host",
        404: "the lab has no such file",
        405: "only GET and HEAD",
        421: "the lab answers to its own address only",
    }

    def do_GET(self) -> None:
        """Sends a file."""
        self._answer()

    def do_HEAD(self) -> None:
        """Sends the headers of a file."""
        self._answer()

    def _answer(self) -> None:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1:
            self.send_error(400)
        elif hosts[0] not in self.server.hosts:
            self.send_error(421)
        elif (body := self.server.bodies.get(self.path.partition("?")[0])) is None:
            self.send_error(404)
        else:
            self._send(200, body)

    def _send(self, status: int, body: Body) -> None:
        taken = _taken(self.headers.get("Accept-Encoding", ""))
        encoding = next((name for name in body.packed if name in taken), None)
        data = body.plain if encoding is None else body.packed[encoding]
        self.send_response(status)
        self.send_header("Content-Type", body.type)
        self.send_header("Content-Length", str(len(data)))
        if encoding is not None:
            self.send_header("Content-Encoding", encoding)
        if body.packed:
            self.send_header("Vary", "Accept-Encoding")
        for name, value in (*self.server.headers.items(), *body.headers.items()):
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """Says what is wrong in a line of text, and nothing of the request."""
        del message, explain
        # What is no method of ours is 501 for the base class.
        status = 405 if code == 501 else code
        allow = {"Allow": "GET, HEAD"} if status == 405 else {}
        text = self._REASONS.get(status, "the request cannot be read")
        # The rest of it, a body say, is not read.
        self.close_connection = True
        if not hasattr(self, "headers"):
            self.headers = self.MessageClass()
        self._send(status, Body("text/plain; charset=utf-8", f"{text}\n".encode(), {}, allow))

    def version_string(self) -> str:
        """What the server calls itself."""
        return "spillgate"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keeps the terminal quiet."""


def _taken(accepted: str) -> set[str]:
    """The encodings that an `Accept-Encoding` allows by name.

    Example:
        >>> [sorted(_taken(x)) for x in ("br, gzip", "gzip;q=0, BR;q=0.5", "*", "")]
        [['br', 'gzip'], ['br'], ['*'], []]
    """
    found = set()
    for part in accepted.split(","):
        name, _, rest = part.partition(";")
        quality = rest.replace(" ", "").lower()
        if name.strip() and quality not in ("q=0", "q=0.0", "q=0.00", "q=0.000"):
            found.add(name.strip().lower())
    return found
