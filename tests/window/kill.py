#!/usr/bin/env python3
"""End the program at random moments of a session and look at what is left on the disk: labels
that were shown are written, nothing else older than a second is lost, no file is half written, and
the next start has it. kill.py PROGRAM [COUNT] [SEED]; ends with 'N passed, N failed'."""

import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from drive import TYPED_AGAIN, Display, Window
from needed import status_without

PROGRAM = Path(sys.argv[1]).resolve()
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 20
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
SECOND = 1.0
WORDS = "cat dog ball red blue Lily Tom park tree sun".split()


class Session(Window):
    """A window that is typed into, and everything that it was seen to show, with the time when it
    was seen."""

    def __init__(self, display, home, *arguments):
        self.seen, self.ended = [], threading.Event()
        try:
            super().__init__(PROGRAM, display, *arguments, home=home, size="1000x700")
            self.settled()
        except AssertionError:
            self.process.kill()
            raise
        self.sent = self.report()["text"]  # and all that was typed after it
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def watch(self):
        while not self.ended.is_set():
            r = self.report()
            if "text" in r:
                self.seen.append((time.monotonic(), r["text"], r["head_labels"]))
            time.sleep(0.03)

    def __exit__(self, *failure):
        self.ended.set()
        self.watcher.join()
        super().__exit__(*failure)

    def focus(self):
        self.tool("windowfocus", self.id)
        time.sleep(0.05)

    def write(self, rng):
        text = f" {rng.choice(WORDS)}{rng.randrange(100)}"
        self.sent += text
        self.type(text)

    def label(self, rng, name):
        """Labels a head beside the selected one; returns which. There are heads once there is a
        text."""
        if not self.sent:
            self.write(rng)
            self.wait(lambda r: r["tokens"], 15)
        self.key("Escape", "Escape", "Escape", rng.choice(("Left", "Right", "Up", "Down")))
        for left in range(3, -1, -1):
            self.focus()
            self.key("Escape", "Escape", "F2")
            try:
                self.wait(lambda r: "label" in r["widgets"] and r["typing"], 2)
                break
            except AssertionError:
                if not left or self.process.poll() is not None:
                    raise
                TYPED_AGAIN.append(name)
        self.type(name)
        self.key("Return")
        r = self.wait(lambda r: name in str(r["head_labels"]), 5)
        self.key("Escape")
        self.wait(lambda r: not r["typing"], 5)  # the sentence has the keyboard again
        return next(
            head
            for heads in r["head_labels"].values()
            for head, label in heads.items()
            if label == name
        )

    def act(self, rng, names):
        what = rng.random()
        if what < 0.6:
            self.write(rng)
        elif what < 0.8:
            names.append(f"label{len(names)}")
            self.label(rng, names[-1])
        else:
            self.key(rng.choice(("ctrl+d", "ctrl+l", "ctrl+shift+k", "ctrl+2", "ctrl+1", "ctrl+5")))
        time.sleep(rng.random() * 0.3)

    def end(self, how):
        """Send a signal; return what was shown, and how long before."""
        now = time.monotonic()
        self.process.send_signal(how)
        status = self.process.wait(20)
        self.ended.set()
        self.watcher.join()
        assert status == (-how if how == signal.SIGKILL else 0), (
            f"ended with status {status} after signal {how}"
        )
        return now


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except json.JSONDecodeError as error:
        raise AssertionError(
            f"{path.name} is half written: {error}: {path.read_bytes()[:200]}"
        ) from None


def kept(home):
    """Texts and labels on the disk; every file is whole."""
    folder = home / "headlight"
    files = [folder / "settings.json", *folder.glob("recovery/*.headlight.json")]
    assert not list(folder.glob("*.broken*")), "nothing was broken"
    return [read(f).get("text", "") for f in files], read(folder / "labels.json").get("labels", {})


def check(home, session, now, age):
    """Text seen so long before the end is there, and text that is there was typed."""
    texts, labels = kept(home)
    before = [text for at, text, _ in session.seen if at <= now - age]
    shown = before[-1] if before else ""
    assert any(t.startswith(shown) and session.sent.startswith(t) for t in texts), (
        f"{shown!r} was shown {age} s before the end, and the disk has {texts}, of {session.sent!r}"
    )
    for at, _, seen in session.seen:
        for model, heads in seen.items() if at <= now else ():
            for head, label in heads.items():
                assert labels.get(model, {}).get(head) is not None, (
                    f"{label} of {model} {head} was shown and is not in {labels}"
                )


def killed(display, rng, home):
    how = rng.choice(
        (
            signal.SIGKILL,
            signal.SIGKILL,
            signal.SIGKILL,
            signal.SIGTERM,
            signal.SIGHUP,
            signal.SIGINT,
        )
    )
    with Session(display, home) as w:
        end = time.monotonic() + rng.random() * 6
        names = []
        actor = threading.Thread(target=lambda: run_until(w, rng, names, end + 5))
        actor.start()
        time.sleep(max(0, end - time.monotonic()))
        now = w.end(how)
        actor.join()
        check(home, w, now, SECOND if how == signal.SIGKILL else 0.2)
    restarted(display, rng, home)
    return how.name


def run_until(w, rng, names, end):
    try:
        while time.monotonic() < end and w.process.poll() is None:
            w.act(rng, names)
    except Exception:  # the window is gone in the middle of it
        if w.process.poll() is None:
            raise


def restarted(display, rng, home):
    """The next start shows what was kept, or offers it."""
    texts, labels = kept(home)
    with Session(display, home) as w:
        r = w.report()
        assert r["head_labels"] == labels or not labels, (r["head_labels"], labels)
        assert r["left"] or r["text"] == texts[0] or not texts[0], (r["text"], texts)
        if r["left"] and rng.random() < 0.5:
            text = read(Path(r["left"]))["text"]
            w.click("left/open")
            w.wait(lambda r: not r["left"] and r["text"] == text)
            assert not Path(r["left"]).exists()
        elif r["left"]:
            w.click("left/dismiss")
            w.wait(lambda r: not r["left"])
        status, error = w.close()
        assert status == 0 and not error, error
    assert not list((home / "headlight/recovery").glob(f"window-{w.process.pid}-*")), (
        "a clean end leaves nothing"
    )


def two_windows(display, rng, home):
    with Session(display, home) as a, Session(display, home) as b:
        labeled = {}
        for i, w in enumerate((a, b, a, b)):
            w.focus()
            name = f"two{rng.randrange(10**6)}x{i}"
            labeled[w.label(rng, name)] = name
        b.focus()
        b.write(rng)
        time.sleep(rng.random() * 2)
        first, last = rng.sample((a, b), 2)
        now = first.end(rng.choice((signal.SIGKILL, signal.SIGTERM)))
        check(home, first, now, SECOND)
        now = last.end(signal.SIGKILL)
        check(home, last, now, SECOND)
        _, labels = kept(home)
        assert labeled.items() <= labels["stories"].items(), (
            f"both windows keep their labels: {labeled} is not in {labels}"
        )
    restarted(display, rng, home)
    return "two windows"


def full_disk(display, rng, home):
    """Every write fails for a while, as on a full disk: then nothing that was whole is lost, and
    what waits is written when there is room."""
    with Session(display, home) as w:
        w.write(rng)
        w.settled()
        time.sleep(SECOND)
        shown = w.report()["text"]
        resource.prlimit(w.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        w.write(rng)
        time.sleep(SECOND)
        texts, _ = kept(home)
        assert texts[0] == shown, (texts, shown)
        if rng.random() < 0.5:
            resource.prlimit(
                w.process.pid,
                resource.RLIMIT_FSIZE,
                (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
            )
            w.write(rng)
            time.sleep(SECOND)
            w.end(signal.SIGTERM)
            texts, _ = kept(home)
            assert texts[0] == w.sent, (texts, w.sent)
        else:
            w.end(signal.SIGKILL)
            texts, _ = kept(home)
            assert texts[0] == shown, (texts, shown)
    restarted(display, rng, home)
    return "full disk"


def read_only_home(display, rng, _):
    """A home that cannot be written: the window works, and says once that nothing is remembered."""
    home = Path(tempfile.mkdtemp())
    (home / "headlight").write_text("no folder can be made here")
    with Session(display, home) as w:
        w.write(rng)
        w.wait(lambda r: r["text"] == w.sent)
        time.sleep(SECOND)
        w.key("ctrl+d")
        w.wait(lambda r: "not being saved" in r["notice"])
        if rng.random() < 0.5:
            w.end(signal.SIGTERM)
        else:
            status, error = w.close()
            assert status == 0 and error.count("\n") == 1 and "not saved" in error, error
    shutil.rmtree(home)
    return "read-only home"


def main():
    if (status := status_without("Xvfb", "xdotool")) is not None:
        return status
    print(f"seed {SEED}", flush=True)
    # a shell that starts us in the background ignores them, and the program would too
    for ending in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    display, failed, others = Display(), 0, (two_windows, full_disk, read_only_home)
    home = Path(tempfile.mkdtemp())
    for i in range(COUNT):
        rng = random.Random(SEED * 1000 + i)
        begin = time.time()
        what = others[i // 4 % 3] if i % 4 == 3 else killed
        try:
            print(f"ok   {i} {what(display, rng, home)} ({time.time() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(
                (
                    f"FAIL {i} {what.__name__}: kill.py PROGRAM {COUNT} {SEED}\n"
                    f"{traceback.format_exc()}"
                ),
                flush=True,
            )
            shutil.rmtree(home)
            home.mkdir()
    display.close()
    shutil.rmtree(home)
    print(f"{COUNT - failed} passed, {failed} failed; typed again: {len(TYPED_AGAIN)} times")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
