"""Chromium without a window, spoken to over a pipe (the DevTools protocol); no further package.

It is found by name or by the variable CHROMIUM; what needs it is skipped where there is none.
"""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)


def find():
    """The program, or none."""
    names = (os.environ["CHROMIUM"],) if os.environ.get("CHROMIUM") else NAMES
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """One browser with one page; `events` are what the page did since `open`."""

    def __init__(self, program, profile):
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()

        def pipes():
            # The protocol's fixed descriptors; the pipes may have these numbers themselves.
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=pipes,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._buffer = b""
        self._numbers = itertools.count(1)
        self._session = None
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        """Ends the browser."""
        os.close(self._out)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)

    def _message(self, until):
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._in], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            read = os.read(self._in, 1 << 20)
            if not read:
                raise EOFError("the browser has ended")
            self._buffer += read
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        """Sends a command and gives its result; events that come first are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 60
        while True:
            answer = self._message(until)
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        """Waits for an event."""
        until = time.monotonic() + 60
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self._message(until))

    def open(self, path, *, width=1280, height=900, dark=False, script=True):
        """Opens a file, or an address, in a window of this size."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.events = []
        self.call("Page.navigate", url=path if isinstance(path, str) else path.resolve().as_uri())
        self.wait("Page.loadEventFired")

    def run(self, code):
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, code):
        """Waits until an expression in the page is true."""
        until = time.monotonic() + 60
        while not self.run(code):
            if time.monotonic() > until:
                raise TimeoutError(code)
            time.sleep(0.1)

    def key(self, key, **more):
        """Presses and releases a key."""
        text = {"text": key} if len(key) == 1 else {}
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}
        more = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0), **more}
        self.call("Input.dispatchKeyEvent", type="keyDown", **text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", **more)

    def mouse(self, kind, x, y, **more):
        """Moves, presses or releases the mouse."""
        more = {"button": "none", **more}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self, path, *, whole=True):
        """Writes a picture of the page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self):
        """The page printed."""
        options = {"preferCSSPageSize": True, "printBackground": False}
        return base64.b64decode(self.call("Page.printToPDF", **options)["data"])

    def problems(self):
        """What the console said, and exceptions."""
        found = []
        for e in self.events:
            p = e.get("params", {})
            if e.get("method") == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"]["text"])
            elif e.get("method") == "Runtime.consoleAPICalled":
                found.append(f"console.{p['type']}")
            elif e.get("method") == "Log.entryAdded":
                found.append(p["entry"]["text"])
        return found

    def requests(self):
        """Addresses that the page asked for."""
        return [
            e["params"]["request"]["url"]
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        ]
