"""Drive the real window under Xvfb: widgets are found by their path in the window's report, never
by a fixed pixel."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def views(program, *model):
    """Keys of the table of views, of those that say something of a model (its options; by default
    the built-in one)."""
    rows = subprocess.run(
        [program, "--commands"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    keys = [row.split()[1] for row in rows if row.startswith("view ")]
    assert len(keys) > 9, rows
    draws = lambda key: (
        subprocess.run(
            [
                program,
                "render",
                "--quiet",
                "--view",
                key,
                *model,
                "--ids",
                "1,2",
                "--format",
                "svg",
                "-o",
                "-",
            ],
            capture_output=True,
        ).returncode
        == 0
    )
    return [key for key in dict.fromkeys(keys) if draws(key)]


PILLS = {
    "look": ["Heat map", "Lines", "Text", "Image", "Alignment", "All heads", "Contacts"],
    "explain": [
        "Prediction",
        "Words that matter",
        "Heads that matter",
        "Explain this",
        "Flow",
        "Update (ΔE)",
        "Arithmetic",
        "Score breakdown",
        "Experts",
        "Over prompts",
    ],
    "change": ["Mask and ablate", "Patch", "Generate"],
    "compare": ["Before/after", "Sentences", "Heads", "Models"],
    "model": ["Architecture", "Positions", "Circuits", "Many texts"],
}

TYPED_AGAIN = []  # fields that had to be typed into more than once


class Display:
    """A virtual screen of its own."""

    def __init__(self, size="1800x1200"):
        said, says = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(says), "-screen", "0", size + "x24"]
            + ["-nolisten", "tcp", "-noreset"],
            stderr=subprocess.DEVNULL,
            pass_fds=[says],
        )
        os.close(says)
        with open(said) as number:  # a free one, once it listens
            self.name = f":{number.readline().strip()}"
        if self.name == ":":
            raise RuntimeError("Xvfb did not start")

    def fine(self, dpi=192):
        """A display of so many dots per inch, as a desktop tells it."""
        subprocess.run(
            [
                "xprop",
                "-root",
                "-format",
                "RESOURCE_MANAGER",
                "8s",
                "-set",
                "RESOURCE_MANAGER",
                f"Xft.dpi:\t{dpi}\n",
            ],
            env=dict(os.environ, DISPLAY=self.name),
            check=True,
            timeout=30,
        )
        return self

    def layout(self, *names):
        """Set the keyboard's layout: "fr", or "us", "-variant", "dvorak"."""
        subprocess.run(
            ["setxkbmap", *names], env=dict(os.environ, DISPLAY=self.name), check=True, timeout=30
        )

    def close(self):
        self.process.terminate()
        self.process.wait()


class JapaneseInput:
    """IBus with Anthy, as a Japanese desktop has it, on a display; its `environment` is for the
    programs that shall use it."""

    @staticmethod
    def missing():
        return [
            p
            for p in (
                "/usr/bin/ibus-daemon",
                "/usr/libexec/ibus-engine-anthy",
                "/usr/bin/dbus-daemon",
                "/usr/bin/xprop",
            )
            if not Path(p).exists()
        ]

    def __init__(self, display):
        self.folder = Path(tempfile.mkdtemp(prefix="headlight-ibus-"))
        self.folder.chmod(0o700)
        common = dict(
            os.environ,
            DISPLAY=display.name,
            HOME=str(self.folder),
            XDG_RUNTIME_DIR=str(self.folder),
            XDG_CONFIG_HOME=str(self.folder / "config"),
            XDG_CACHE_HOME=str(self.folder / "cache"),
            LC_ALL="C.UTF-8",
            GSETTINGS_BACKEND="memory",
            PATH="/usr/bin:/bin",
        )
        self.bus = subprocess.Popen(
            ["/usr/bin/dbus-daemon", "--session", "--nofork", "--print-address"],
            env=common,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        common["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().strip()
        self.daemon = subprocess.Popen(
            ["/usr/bin/ibus-daemon", "--xim", "--panel", "disable", "--config", "disable"],
            env=common,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.environment = {"XMODIFIERS": "@im=ibus", "LC_ALL": "C.UTF-8"}
        for _ in range(60):
            time.sleep(0.5)
            subprocess.run(
                ["ibus", "engine", "anthy"],
                env=common,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            chosen = subprocess.run(
                ["ibus", "engine"], env=common, capture_output=True, text=True
            ).stdout.strip()
            served = subprocess.run(
                ["xprop", "-root", "XIM_SERVERS"], env=common, capture_output=True, text=True
            ).stdout
            if chosen == "anthy" and "ibus" in served:
                return
        self.close()
        raise RuntimeError("IBus did not start")

    def close(self):
        for process in (self.daemon, self.bus):
            process.terminate()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Window:
    """A running headlight, its own settings folder, and what it reports."""

    def __init__(
        self,
        program,
        display,
        *arguments,
        home=None,
        size="1600x1000",
        environment=None,
        moved=True,
    ):
        self.folder = Path(tempfile.mkdtemp(prefix="headlight-window-"))
        self.home = home or self.folder / "home"
        self.home.mkdir(exist_ok=True)
        self.report_path = self.folder / "report.json"
        self.environment = dict(
            os.environ,
            DISPLAY=display.name,
            XDG_CONFIG_HOME=str(self.home),
            LIBGL_ALWAYS_SOFTWARE="1",
            **(environment or {}),
        )
        self.tool("mousemove", "9999", "9999")  # to the corner, where no window is
        sized = (
            ["--size", size] + ([] if "--scale" in arguments else ["--scale", "1"]) if size else []
        )
        self.process = subprocess.Popen(
            [str(program), "--report", str(self.report_path), *sized, *map(str, arguments)],
            env=self.environment,
            stderr=subprocess.PIPE,
        )
        self.wait(lambda r: "shown_text" in r or r.get("model_error"), 60)
        self.id = self.tool("search", "--sync", "--pid", str(self.process.pid)).split()[-1]
        if moved:
            self.tool("windowmove", self.id, "0", "0")
        self.tool("windowfocus", self.id)
        time.sleep(0.2)

    def tool(self, *arguments):
        return subprocess.run(
            ["xdotool", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout

    def report(self):
        try:
            return json.loads(self.report_path.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return {}

    def wait(self, condition, seconds=15):
        """The first report for which condition holds; fails with the last report."""
        # a program under a sanitizer is slow
        seconds *= float(os.environ.get("HEADLIGHT_PATIENCE", 1))
        end = time.time() + seconds
        while time.time() < end:
            r = self.report()
            try:
                if r and condition(r):
                    return r
            except (KeyError, TypeError):
                pass
            if self.process.poll() is not None:
                raise AssertionError(
                    f"the window ended with status {self.process.returncode}: "
                    f"{self.process.stderr.read().decode()[-2000:]}"
                )
            time.sleep(0.02)
        for long in ("widgets", "frame_times", "redrawn", "latencies", "answers", "figure"):
            r.pop(long, None)
        raise AssertionError(
            f"did not happen within {seconds} s; the window says {json.dumps(r)[:3000]}"
        )

    def settled(self):
        return self.wait(lambda r: not r["busy"] and r.get("shown_text") == r["text"])

    def type(self, text, delay_ms=12):
        self.tool("type", "--delay", str(delay_ms), text)

    def key(self, *names):
        self.tool("key", *names)

    def place(self, path, fx=0.5, fy=0.5):
        x, y, w, h = self.wait(lambda r: path in r.get("widgets", {}))["widgets"][path]
        return str(int(x + w * fx)), str(int(y + h * fy))

    def move(self, x, y):
        """Move the pointer, and wait for the two frames that this makes within the window."""
        there = self.tool("getmouselocation").split()[:2] == [f"x:{x}", f"y:{y}"]
        r = self.wait(lambda r: r["size"])
        self.tool("mousemove", x, y)
        if not there and int(x) < r["size"][0] and int(y) < r["size"][1]:
            self.wait(lambda now: now["frame"] > r["frame"] + 1)

    def point(self, path, fx=0.5, fy=0.5):
        self.move(*self.place(path, fx, fy))

    def click(self, path, fx=0.5, fy=0.5):
        for _ in range(3):  # the widget may have moved in the frames that the pointer made
            at = self.place(path, fx, fy)
            self.move(*at)
            if self.place(path, fx, fy) == at:
                break
        self.tool("click", "1")
        time.sleep(0.08)

    def tab_to(self, path):
        """Press Tab until a control has the focus."""
        for _ in range(80):
            focus = self.report()["focus"]
            if focus == path:
                return
            self.key("Tab")
            self.wait(lambda r: r["focus"] != focus)
        raise AssertionError(f"Tab does not reach {path}")

    def show(self, name):
        """Open a view by the mouse: its question, then its pill, or the list of those that do not
        fit. Return the number of clicks."""
        group = next(group for group, names in PILLS.items() if name in names)
        clicks = []
        if self.report().get("door") not in PILLS[group]:
            clicks.append(f"question/{group}")
            self.click(clicks[-1])
        r = self.wait(lambda r: r["door"] in PILLS[group])
        if r["door"] == name:
            return len(clicks)
        r = self.wait(lambda r: {f"tab/{name}", "tab/more"} & set(r["widgets"]))
        listed = f"tab/{name}" not in r["widgets"]
        for path in ["tab/more", f"tab/more/{name}"] if listed else [f"tab/{name}"]:
            clicks.append(path)
            self.click(path)
        self.wait(lambda r: r["door"] == name)
        return len(clicks)

    def fill(self, path, text, condition):
        """Types into one of Dear ImGui's fields, again where it had not taken the keyboard yet."""
        for seconds in (4, 8, 15):
            self.click(path)
            time.sleep(0.25)
            # Held over a frame: Dear ImGui 1.86 misses keys that are shorter.
            for half in ("keydown", "keyup"):
                self.tool(half, "ctrl", half, "a")
                time.sleep(0.1)
            self.type(text)
            try:
                return self.wait(condition, seconds)
            except AssertionError:
                if seconds == 15:
                    raise
                TYPED_AGAIN.append(path)

    def drag(self, path, begin, end, steps=6):
        """Press at one place of a widget and let go at another; both as shares of its sides."""
        self.point(path, *begin)
        time.sleep(0.08)
        self.tool("mousedown", "1")
        time.sleep(0.08)
        for i in range(1, steps + 1):
            self.point(path, *(b + (e - b) * i / steps for b, e in zip(begin, end)))
            time.sleep(0.04)
        self.tool("mouseup", "1")
        time.sleep(0.08)

    def resize(self, width, height):
        self.tool("windowsize", "--sync", self.id, str(width), str(height))

    def picture(self):
        """The window's pixels as they are on the screen, as one bytes object (xwd format)."""
        return subprocess.run(
            ["xwd", "-silent", "-id", self.id],
            env=self.environment,
            capture_output=True,
            timeout=60,
        ).stdout

    def drop(self, path):
        """Drop a file or folder on the window by the XDND protocol."""
        subprocess.run(
            [sys.executable, str(Path(__file__).with_name("drop.py")), self.id, str(path)],
            env=self.environment,
            check=True,
            timeout=30,
        )

    def close(self):
        """Close the window as a user would; return its exit status and its standard error."""
        self.key("ctrl+q")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("the window did not close") from None
        return self.process.returncode, self.process.stderr.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
