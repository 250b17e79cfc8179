"""Drive Chromium over its DevTools protocol, with the standard library only."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")


class WebSocket:
    """A client that sends and receives texts (RFC 6455)."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.socket.recv(4096)
        self.rest = self.rest.split(b"\r\n\r\n", 1)[1]

    def take(self, count):
        while len(self.rest) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise ConnectionError("the browser closed the connection")
            self.rest += more
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def send(self, text):
        data = text.encode()
        size = len(data)
        if size < 126:
            head = struct.pack(">BB", 0x81, 0x80 | size)
        elif size < 65536:
            head = struct.pack(">BBH", 0x81, 0x80 | 126, size)
        else:
            head = struct.pack(">BBQ", 0x81, 0x80 | 127, size)
        mask = os.urandom(4)  # Firefox refuses the mask of zeros
        masks = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
        data = (int.from_bytes(data, "big") ^ masks).to_bytes(size, "big")
        self.socket.sendall(head + mask + data)

    def receive(self):
        """The next whole text."""
        text = b""
        while True:
            first, second = self.take(2)
            size = second & 127
            if size == 126:
                size = struct.unpack(">H", self.take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.take(8))[0]
            data = self.take(size)
            if first & 15 in (0, 1):
                text += data
                if first & 128:
                    return text.decode()


class Unable(Exception):
    """What a check needs and this browser's protocol cannot do."""


class Browser:
    """One Chromium with one page. Faults and requests of the page are collected."""

    name = "Chromium"
    files_told = 1  # how many requests it tells of when it opens a file

    def __init__(self, width=1200, height=900, scale=1, flags=()):
        self.folder = tempfile.mkdtemp(prefix="headlight-page-")
        self.count, self.faults, self.requests = 0, [], []
        self.process = subprocess.Popen(
            [*self.command(width, height), *flags, "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            self.connect()
            self.resize(width, height, scale)
        except BaseException:  # else the process would outlive the test
            self.close()
            raise

    def command(self, width, height):
        return [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu",
                "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "--no-first-run",
                "--disable-background-networking", "--disable-component-update",
                "--hide-scrollbars", f"--window-size={width},{height}"]  # fmt: skip

    def connect(self):
        self.port = int(self.announced("DevToolsActivePort").split()[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json") as answer:
            target = next(t for t in json.load(answer) if t["type"] == "page")
        self.web = WebSocket(self.port, target["webSocketDebuggerUrl"].split(str(self.port), 1)[1])
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def announced(self, name):
        """The file of its folder in which the browser says where it listens."""
        path = Path(self.folder) / name
        for _ in range(600):
            if path.exists() and path.read_text().strip():
                return path.read_text()
            time.sleep(0.1)
        raise TimeoutError(f"{self.name} did not start")

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def note(self, event):
        kind, values = event["method"], event["params"]
        if kind == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description") or details["text"])
        elif kind == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning"):
            self.faults.append(json.dumps(values["args"]))
        elif kind == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.faults.append(values["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"][:100])

    def ask(self, method, **values):
        self.count += 1
        self.web.send(json.dumps({"id": self.count, "method": method, "params": values}))
        while True:
            answer = json.loads(self.web.receive())
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.note(answer)

    def resize(self, width, height, scale=1, mobile=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=scale, mobile=mobile)  # fmt: skip
        self.ask("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def go(self, url):
        self.ask("Page.navigate", url=url)

    def open(self, path, wait=True, before=""):
        """Open a file; the seconds until the page says that it is ready. The code `before` runs
        before the page's own."""
        self.faults, self.requests = [], []
        added = self.preload(before) if before else None
        start = time.monotonic()
        self.go(Path(path).as_uri())
        while wait and time.monotonic() - start < 60:
            if self.run(
                "location.protocol === 'file:' && !!document.querySelector('[data-ready]')"
            ):
                break
            time.sleep(0.01)
        self.frame()
        seconds = time.monotonic() - start
        if added:
            self.forget(added)
        return seconds

    def preload(self, code):
        added = self.ask("Page.addScriptToEvaluateOnNewDocument", source=code)
        return added["identifier"]

    def forget(self, added):
        self.ask("Page.removeScriptToEvaluateOnNewDocument", identifier=added)

    def prefer(self, scheme):
        """Say that the system is light or dark; "" stops that."""
        features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
        self.ask("Emulation.setEmulatedMedia", features=features)
        self.frame()

    def save_in(self, folder):
        """Downloads go there unasked."""
        self.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def printed(self):
        """The page as a PDF."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def run(self, code):
        """The value of an expression in the page; a promise is awaited."""
        answer = self.ask(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def frame(self):
        """Wait until what changed is painted."""
        self.run(
            "new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f))).then(() => 1)"
        )

    def picture(self, path, full=False):
        image = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        Path(path).write_bytes(base64.b64decode(image["data"]))

    def mouse(self, x, y, kinds):
        for kind in kinds:
            pressed = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)

    def move(self, x, y):
        self.mouse(x, y, ["mouseMoved"])
        self.frame()

    def click(self, x, y):
        self.mouse(x, y, ["mouseMoved", "mousePressed", "mouseReleased"])
        self.frame()

    def touch(self, kind, points):
        self.ask(
            "Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points]
        )
        self.frame()

    def key(self, name, shift=False):
        codes = {"Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
                 "PageUp": 33, "PageDown": 34, "Enter": 13, "Tab": 9}  # fmt: skip
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                     windowsVirtualKeyCode=codes.get(name, 0),
                     modifiers=8 if shift else 0)  # fmt: skip
        self.frame()
