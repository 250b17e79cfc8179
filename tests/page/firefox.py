"""Drive Firefox over WebDriver BiDi, with the calls of browser.py."""

import base64
import json
import shutil
from pathlib import Path

from browser import Browser, Unable, WebSocket

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")
# No page of the browser's own, no request of its own, small fonts as the system has them.
SETTINGS = {
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "layout.css.devPixelsPerPx": "1.0",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "ui.systemUsesDarkTheme": 0,
}
# What WebDriver calls the keys that have no letter.
KEYS = {"Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014",
        "ArrowDown": "\ue015", "PageUp": "\ue00e", "PageDown": "\ue00f", "Enter": "\ue007",
        "Tab": "\ue004"}  # fmt: skip
SHIFT = "\ue008"
NUMBERS = {"NaN": float("nan"), "-0": -0.0, "Infinity": float("inf"), "-Infinity": -float("inf")}
TOUCHES = {"touchStart": "pointerDown", "touchEnd": "pointerUp"}
MOUSE = {
    "mousePressed": {"type": "pointerDown", "button": 0},
    "mouseReleased": {"type": "pointerUp", "button": 0},
}


def plain(value):
    """A value as BiDi writes it, as Python's own."""
    kind, held = value["type"], value.get("value")
    if kind in ("array", "nodelist", "htmlcollection"):
        return [plain(one) for one in held]
    if kind == "object":
        return {name: plain(one) for name, one in held}
    if kind == "number":
        return NUMBERS.get(held, held) if isinstance(held, str) else held
    return held


class Firefox(Browser):
    """One Firefox with one page. Faults and requests of the page are collected."""

    name = "Firefox"
    files_told = 0  # its protocol leaves out files, and tells of data: and of the network

    def command(self, width, height):
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in SETTINGS.items()]
        (Path(self.folder) / "user.js").write_text("\n".join(lines))
        return [PROGRAM, "--headless", "--no-remote", "--remote-debugging-port=0",
                "--profile", self.folder, f"--width={width}", f"--height={height}"]  # fmt: skip

    def connect(self):
        self.port = json.loads(self.announced("WebDriverBiDiServer.json"))["ws_port"]
        self.web = WebSocket(self.port, "/session")
        self.touching = None
        self.ask("session.new", capabilities={})
        self.tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])

    def note(self, event):
        values = event["params"]
        if event["method"] == "log.entryAdded" and values["level"] in ("error", "warn"):
            self.faults.append(values["text"])
        elif event["method"] == "network.beforeRequestSent":
            self.requests.append(values["request"]["url"][:100])

    def in_tab(self, method, **values):
        return self.ask(f"browsingContext.{method}", context=self.tab, **values)

    def resize(self, width, height, scale=1, mobile=False):
        """A phone is its size: what a finger does, touch() says."""
        self.in_tab("setViewport", viewport={"width": width, "height": height},
                    devicePixelRatio=scale)  # fmt: skip

    def go(self, url):
        self.in_tab("navigate", url=url, wait="none")

    def preload(self, code):
        added = self.ask("script.addPreloadScript", functionDeclaration=f"() => {{{code}}}")
        return added["script"]

    def forget(self, added):
        self.ask("script.removePreloadScript", script=added)

    def prefer(self, scheme):
        raise Unable("Firefox is not told what the system prefers")

    def save_in(self, folder):
        where = {"type": "allowed", "destinationFolder": str(folder)}
        self.ask("browser.setDownloadBehavior", downloadBehavior=where)

    def printed(self):
        return base64.b64decode(self.in_tab("print", background=True)["data"])

    def run(self, code):
        answer = self.ask("script.evaluate", expression=code, awaitPromise=True,
                          target={"context": self.tab})  # fmt: skip
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"][:500])
        return plain(answer["result"])

    def picture(self, path, full=False):
        image = self.in_tab("captureScreenshot", origin="document" if full else "viewport")
        Path(path).write_bytes(base64.b64decode(image["data"]))

    def act(self, source):
        self.ask("input.performActions", context=self.tab, actions=[source])

    def pointer(self, kind, steps):
        self.act({"type": "pointer", "id": kind, "parameters": {"pointerType": kind},
                  "actions": steps})  # fmt: skip

    def mouse(self, x, y, kinds):
        to = {"type": "pointerMove", "x": round(x), "y": round(y)}
        self.pointer("mouse", [to] + [MOUSE[kind] for kind in kinds if kind in MOUSE])

    def touch(self, kind, points):
        """One finger."""
        steps = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in points]
        if kind in TOUCHES:
            steps.append({"type": TOUCHES[kind], "button": 0})
        self.pointer("touch", steps)
        self.frame()

    def key(self, name, shift=False):
        value = KEYS.get(name, name)
        steps = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        if shift:
            steps = [{"type": "keyDown", "value": SHIFT}, *steps, {"type": "keyUp", "value": SHIFT}]
        self.act({"type": "key", "id": "keys", "actions": steps})
        self.frame()
