"""A real headless Chromium, driven over its debugging pipe: pages opened, looked at, measured."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--remote-debugging-pipe",
)


class Tab:
    """One page, and everything it complained about or asked the network for."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Log", "Runtime", "Network"):
            self._call(f"{domain}.enable")

    def open(
        self,
        path: Path,
        *,
        width: int = 1280,
        theme: Literal["light", "dark"] = "light",
        media: Literal["screen", "print"] = "screen",
    ) -> None:
        """Load a file at this width, in this colour scheme, on a screen or on paper."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = [{"name": "prefers-color-scheme", "value": theme}]
        self._call("Emulation.setEmulatedMedia", media=media, features=scheme)
        self.requests.clear()
        self._call("Page.navigate", url=path.as_uri())
        self._wait_for("Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """What JavaScript sees on the page."""
        done = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def print(self, path: Path) -> None:
        """The page as it is printed."""
        path.write_bytes(base64.b64decode(self._call("Page.printToPDF")["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _wait_for(self, event: str) -> None:
        while self._next().get("method") != event:
            pass

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._receive, 1 << 20)
            assert chunk, "Chromium has gone away"
            self._buffer += chunk
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        said = message.get("params", {})
        match message.get("method"):
            case "Log.entryAdded":
                self.complaints.append(said["entry"]["text"])
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(said))
            case "Network.requestWillBeSent":
                self.requests.append(said["request"]["url"])
            case _:  # answers, and events nobody waits for
                pass
        return message


@contextmanager
def chromium(home: Path) -> Iterator[Tab]:
    """A browser with a profile of its own below `home`, ended with everything it started."""
    program = shutil.which("chromium")
    assert program, "chromium is not installed"
    read_commands, send = os.pipe()
    receive, write_answers = os.pipe()
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{read_commands} 4>&{write_answers}', "bash", program,
         *FLAGS, f"--user-data-dir={home / 'chromium'}"],
        pass_fds=(read_commands, write_answers), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(read_commands)
    os.close(write_answers)
    try:
        yield Tab(send, receive)
    finally:
        os.close(send)  # a browser whose pipe is closed ends itself
        os.close(receive)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
