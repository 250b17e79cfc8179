"""Windows with less room than their parts need, as a tiling window manager or a large scale makes
them; and an active patch when another model opens."""

import os
import subprocess
import tempfile
from pathlib import Path

from places import GPT2, PROGRAM, REFERENCE, SENTENCE
from standing import UNANSWERED

LONG = bool(os.environ.get("HEADLIGHT_LONG"))


def _drawn(display, *arguments):
    """Carry out commands in a window and draw it at the end; fail where it ends otherwise than
    well."""
    with tempfile.TemporaryDirectory(prefix="headlight-sizes-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        environment = dict(
            os.environ, DISPLAY=display.name, XDG_CONFIG_HOME=str(home), LIBGL_ALWAYS_SOFTWARE="1"
        )
        done = subprocess.run(
            [str(PROGRAM), "--screenshot", str(Path(folder) / "x.png"), *map(str, arguments)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, (
            f"status {done.returncode} of {arguments}: {done.stderr[-3000:]}"
        )


def _listed(*arguments):
    return subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def every_view_and_station_is_drawn_in_a_window_of_any_size(display):
    """Of 200 … 700 by 5 … 400 points: a window is at least 16 pixels high, so the lowest are of
    four pixels a point."""
    keys = [row.split("  ")[0] for row in _listed("--commands") if row.startswith("view ")]
    shown = "; ".join(f"{key}; theme light; theme dark" for key in keys if key not in UNANSWERED)
    stations = "; ".join(f"learn {row.split()[0]}" for row in _listed("learn", "--list"))
    over = "; ".join(
        ("palette", "keys", "settings", "metric menu", "save figure", "open", "escape")
    )
    windows = [
        (400, 300, 1, shown),
        (1024, 640, 2, f"text size 150; {stations}"),
        (900, 20, 4, f"present; {stations}"),
        (330, 60, 1, over),
    ]
    if LONG:  # in turn, because each is some twenty seconds under a sanitizer
        rooms = [
            (w * s, max(16, h * s), s)
            for s in (1, 2)
            for w in (200, 450, 700)
            for h in (16, 60, 150, 400)
        ] + [(800, 20, 4), (1600, 20, 4), (2800, 40, 4), (16, 16, 1)]
        befores = ("", "present; ", "text size 150; ", "text size 150; present; ")
        windows += [
            (*room, befores[i % 4] + commands)
            for i, room in enumerate(rooms)
            for commands in (shown, stations, over)
        ]
    for wide, high, scale, commands in windows:
        _drawn(
            display,
            "--size",
            f"{wide}x{high}",
            "--scale",
            scale,
            "--text",
            SENTENCE,
            "--lock",
            "5,2",
            "--do",
            commands,
        )
    for wide, high, scale in rooms[::3] if LONG else ():
        _drawn(
            display,
            "--size",
            f"{wide}x{high}",
            "--scale",
            scale,
            "--model",
            "translator",
            "--text",
            SENTENCE,
            "--do",
            f"{shown}; view alignment; alignment as lines; theme light",
        )


def no_change_of_one_model_reaches_another(display):
    text = ("--text", "The cat sat on the mat")
    _drawn(
        display,
        "--model",
        "translator",
        *text,
        "--do",
        "patch-resid *@decoder.1=the ball; open stories",
    )
    _drawn(
        display,
        "--model",
        "translator",
        *text,
        "--do",
        (
            "patch-attention *@cross.1; patch-mlp *@decoder.1=the ball; switch stories; switch "
            "translator"
        ),
    )
    other = REFERENCE / "bert"
    for change in (
        "patch-resid *@3=the ball",
        "patch-head *@3.7",
        "freeze 3.7=the ball",
        "skip-mlp 3; ablate 3.7:mean; score 1>0@3.7=4",
    ):
        _drawn(
            display,
            *text,
            "--do",
            f"{change}; open {GPT2}; open {other}; compare model stories; open stories",
        )
