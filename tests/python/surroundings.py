"""Where the package runs: without torch, without a display, in a home that cannot be written, with
and without its program."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import headlight
from given_arrays import causal_patterns, sentence_of

PACKAGE = Path(headlight.__file__).parents[1]
SHORT = (
    "import numpy, headlight\nt = headlight.trace(patterns=numpy.tril(numpy.ones((1, 2, 4, 4))) "
    "/ numpy.arange(1, 5)[:, None])\n"
)


class Screen:
    """A virtual screen, by its name."""

    def __enter__(self):
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return ":" + self.server.stdout.readline().strip()

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()


def python(code, **variables):
    """The output and exit status of a fresh Python; a variable that is None is not set."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(PACKAGE),
        **{k: v for k, v in variables.items() if v is not None},
    }
    for name in ("DISPLAY", "WAYLAND_DISPLAY", *(k for k, v in variables.items() if v is None)):
        if name not in variables or variables[name] is None:
            environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600
    )
    return done.stdout + done.stderr, done.returncode


def it_imports_neither_torch_nor_transformers():
    said, status = python(
        SHORT
        + (
            "headlight.figure(t, head=(0, 1)); import sys; print({m.split('.')[0] for m in "
            "sys.modules} & {'torch', 'transformers', 'transformer_lens', 'pandas', 'IPython'})"
        )
    )
    assert status == 0 and said.strip() == "set()", said


def without_a_display_figures_are_drawn_and_show_says_what_is_missing():
    inline = (
        "f = headlight.show(t, inline=True)\nprint(len(headlight.figure(t).png) > 1000, "
        "'image/png' in f._repr_mimebundle_()[0])\n"
    )
    said, status = python(
        SHORT
        + inline
        + (
            "for call in (lambda: headlight.show(t), f.show):\n    try: call()\n    except "
            "headlight.HeadlightError as e: print('said', e)"
        )
    )
    first, *sentences = said.splitlines()
    assert status == 0, said
    assert first == "True True", said
    assert len(sentences) == 2, said
    assert all(s.startswith("said There is no display") for s in sentences), said
    said, status = python(SHORT + "headlight.show(t)", DISPLAY=":987")
    assert status == 1, said
    assert "display" in said.splitlines()[-1], said
    assert "HeadlightError" in said.splitlines()[-1], said


def a_home_that_cannot_be_written_is_enough():
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, stat.S_IRUSR | stat.S_IXUSR)
        said, status = python(
            SHORT
            + "print(len(headlight.figure(t).png) > 1000, headlight.heads(t)['entropy'].shape)",
            HOME=home,
            XDG_CONFIG_HOME=home + "/none",
        )
        assert status == 0, said
        assert said.strip() == "True (1, 2)", said
        assert not list(Path(home).iterdir()), said


def a_home_that_is_none_is_enough_for_the_window():
    for home in ("/dev/null/home", "/proc"):  # where root cannot write either
        with Screen() as display:
            said, status = python(
                SHORT
                + (
                    "w = headlight.show(t, block=False); print(w.is_open); w.close()\n"
                    "print(len(headlight.figure(t).png) > 1000)"
                ),
                HOME=home,
                XDG_CONFIG_HOME=None,
                XDG_CACHE_HOME=None,
                DISPLAY=display,
            )
        assert status == 0 and said.split() == ["True", "True"], said


def a_program_that_dies_is_said():
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "headlight"
        program.write_text("#!/bin/sh\necho Half\nkill -KILL $$\n")
        program.chmod(0o755)
        for call in (
            "headlight.figure(t)",
            "headlight.heads(t)",
            "headlight.show(t)",
            "headlight.trace('stories', 'a')",
        ):
            said, status = python(SHORT + call, HEADLIGHT_PROGRAM=str(program))
            assert status == 1, said
            assert said.splitlines()[-1].startswith(
                "headlight.errors.ProgramDied: The program headlight was ended by SIGKILL; "
            ), said
        program.write_text("#!/bin/sh\nexit 3\n")
        said, status = python(SHORT + "headlight.figure(t)", HEADLIGHT_PROGRAM=str(program))
        assert status == 1 and "ended with status 3" in said.splitlines()[-1], said


def the_window_outlives_python():
    for ending in ("", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"):
        with Screen() as display, tempfile.TemporaryDirectory() as home:
            said, _ = python(
                SHORT + "print(headlight.show(t, block=False)._process.pid, flush=True)\n" + ending,
                DISPLAY=display,
                XDG_CONFIG_HOME=home,
            )
            window = int(said)
            time.sleep(0.5)
            assert Path(f"/proc/{window}/stat").read_text().split(") ")[1][0] not in "ZX", (
                "it went with the process that opened it"
            )
            os.kill(window, signal.SIGTERM)
            deadline = time.time() + 10
            while Path(f"/proc/{window}").exists() and time.time() < deadline:
                time.sleep(0.05)


def without_a_place_for_temporary_files_it_says_so():
    with tempfile.TemporaryDirectory() as folder:
        said, _ = python(
            SHORT.replace(
                "t =", "tempfile = __import__('tempfile'); tempfile.tempdir = '/nowhere'\nt ="
            ),
            TMPDIR=folder,
        )
        assert "TMPDIR" in said.splitlines()[-1], said


def the_window_opens_and_closes():
    try:
        with (
            Screen() as os.environ["DISPLAY"],
            tempfile.TemporaryDirectory() as os.environ["XDG_CONFIG_HOME"],
        ):
            window = headlight.show(patterns=causal_patterns(2, 2, 5), head=(1, 1), block=False)
            assert window.is_open, f"it ended with status {window._process.returncode}"
            window.close()
            assert not window.is_open
            window = headlight.figure(patterns=causal_patterns(2, 2, 5)).show(block=False)
            os.kill(window._process.pid, signal.SIGKILL)
            assert "SIGKILL" in sentence_of(window.wait)
            assert "no cell" in sentence_of(
                lambda: headlight.show(patterns=causal_patterns(1, 1, 5), lock="x", block=True)
            )
    finally:
        os.environ.pop("DISPLAY", None)
        os.environ.pop("XDG_CONFIG_HOME", None)


def the_module_is_the_program():
    program = os.environ["HEADLIGHT_PROGRAM"]
    own = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    run = lambda *arguments, **more: subprocess.run(
        [sys.executable, "-m", "headlight", *arguments],
        capture_output=True,
        text=True,
        env={**environment, **more},
    )
    assert own and run("--version").stdout == own and headlight.__version__ in own
    assert run("render", "--text", "a", "--view", "nonsense", "-o", "x.png").returncode == 2
    assert "HEADLIGHT_PROGRAM" in run("--version", HEADLIGHT_PROGRAM="/nowhere").stderr


def the_program_is_found_on_the_path():
    with tempfile.TemporaryDirectory() as folder:
        command = Path(folder) / "first" / "headlight"
        command.parent.mkdir()
        command.write_text(f"#!{sys.executable}\nimport headlight.__main__ as m; m.main()\n")
        command.chmod(0o755)
        (Path(folder) / "headlight").symlink_to(os.environ["HEADLIGHT_PROGRAM"])
        code = "import headlight.program as p; print(p.find_program())"
        found, _ = python(code, HEADLIGHT_PROGRAM=None, PATH=f"{command.parent}:{folder}")
        assert found.strip() == str(Path(folder) / "headlight"), (
            "the package's own command is not the program: " + found
        )
        said, status = python(code, HEADLIGHT_PROGRAM=None, PATH=str(command.parent))
        assert status == 1 and "pip install headlight-attention" in said, said


def traces_are_removed_with_what_holds_them():
    said, status = python(
        SHORT
        + (
            "f = headlight.figure(t); p = t.path; del t; print(p.exists()); del f; "
            "print(p.exists(), p.parent.exists())"
        )
    )
    assert status == 0 and said.split() == ["True", "False", "False"], said


def what_a_killed_process_left_the_next_one_removes():
    tell = "print(t.path, flush=True)\n"
    said, status = python(SHORT + tell + "import os; os.kill(os.getpid(), 9)")
    left, own = Path(said.strip()), headlight.trace(patterns=causal_patterns(1, 1, 3))
    assert status == -signal.SIGKILL and left.exists()
    python(SHORT)
    assert left.exists(), "it may belong to a process that is just beginning"
    for path in (left, own.path):
        os.utime(path.parent / "headlight.lock", (0, 0))
    python(SHORT)
    assert not left.parent.exists() and own.path.exists(), "one that lives keeps its own"


def models_on_the_computer_are_named():
    trace = headlight.trace("stories", "The cat sat.")
    assert trace["pattern", 0].shape == (8, 4, 4)
    assert trace["resid_post", 3].shape == (4, 256)
    assert trace["logits"].shape == (4, 4096)
    table = headlight.heads("stories", text="The cat sat. The cat", sort="induction")
    assert table["induction"].shape == (4, 8)
    changed = headlight.compare("stories", text="The cat sat.", change=["mask:2>1", "ablate:1.2"])
    assert changed.distance.max() > 0.01
    assert abs(changed.next[0]["b"] - changed.next[0]["a"] - changed.next[0]["delta_p"]) < 1e-6
    assert headlight.compare(
        "stories", text="The cat sat.", text_b="The dog sat."
    ).distance.shape == (4, 8)
    assert headlight.figure(
        "stories", text="The cat sat.", view="steps", head=(1, 1), cell=(2, 1), width_mm=85
    ).png
    assert "/nowhere/model" in sentence_of(lambda: headlight.figure("/nowhere/model", text="a"))


def the_window_of_a_figure_begins_with_the_same():
    """Its target, cell and changes; what the window is not opened with is said."""
    changed = headlight.figure(
        "stories",
        text="The cat sat.",
        head=(2, 0),
        cell=(3, 1),
        ablate="1.2:mean",
        change=["mask:3>1@2.0", "temperature:0.5@2.0"],
        mask="window:3",
    )
    with mock.patch.object(sys.modules["headlight.figure"], "open_window") as opened:
        changed.show()
        assert opened.call_args[0][3] == {
            "pair": None,
            "target": None,
            "lock": (3, 1),
            "do": "mask 3>1@2.0; temperature 0.5@2.0; ablate 1.2:mean; mask window:3",
        }, opened.call_args
        headlight.figure(
            "translator", text="The cat sat.", target="Die Katze saß.", view="alignment"
        ).show()
        assert opened.call_args[0][3]["target"] == "Die Katze saß."
        for options in ({"ids": [5, 9]}, {"text": "a cat", "change": "skip-mlp:1"}):
            assert "opened with a text" in sentence_of(headlight.figure("stories", **options).show)
    try:
        with (
            Screen() as os.environ["DISPLAY"],
            tempfile.TemporaryDirectory() as os.environ["XDG_CONFIG_HOME"],
        ):
            window = changed.show(block=False)
            assert window.is_open, "the window takes what it is told"
            window.close()
    finally:
        os.environ.pop("DISPLAY", None)
        os.environ.pop("XDG_CONFIG_HOME", None)
