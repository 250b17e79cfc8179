"""The program's description of itself: commands, completions, manual, help."""

import json
import re
import shlex
import shutil
import subprocess

from program import FOLDER, PROGRAM, TESTS, run


def commands_are_listed_and_checked():
    lines = run("--commands").out.splitlines()
    assert len(lines) > 60, lines[:3]
    assert any(line.startswith("question explain ") and "Ctrl+2" in line for line in lines), lines[
        :3
    ]
    assert all(len(line.split()) > 2 for line in lines)
    for line in ("fly", "view lines; fly", "lock", "undo twice"):
        assert (
            "--commands" in run("--do", line, status=2).err
            or "takes no arguments" in run("--do", line, status=2).err
        )


def shells_and_the_manual():
    page = run("man").out
    assert page.startswith(".TH HEADLIGHT 1")
    assert all(f".SH {verb}" in page for verb in ("RENDER", "COMPARE", "TRACE"))
    assert "\\-\\-effect\\-on" in page
    assert all(
        "HEADLIGHT_KERNELS" in text
        for text in (page.split(".SH ENVIRONMENT")[1], run("--help").out.split("Environment:")[1])
    )
    if shutil.which("bash"):
        script = run("completions bash").out + (
            "COMP_WORDS=(headlight render --all); COMP_CWORD=2; _headlight; echo "
            '"${COMPREPLY[@]}"; COMP_WORDS=(headlight comp); COMP_CWORD=1; _headlight; echo '
            '"${COMPREPLY[@]}"'
        )
        out = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        assert out.stdout.split("\n")[:2] == ["--all-heads", "compare completions"], out
        assert not out.stderr, out
    for shell in ("zsh", "fish"):
        assert "effect-on" in run("completions", shell).out
    run("completions tcsh", status=2)


def options_may_stand_in_a_file():
    """Whatever they hold: a text beyond what the system hands to a program, @, quotes, lines."""
    options = FOLDER / "options.json"
    long = "The cat sat on the mat. " * 20_000
    for text in (long, "@home", 'two\nlines, "quoted"'):
        options.write_text(json.dumps(["--text", text, "-o", "listed.csv"]))
        (FOLDER / "whole.txt").write_text(text)
        run("render", f"@{options}", "--view", "head", "--quiet")
        run("render --view head --one-text --quiet -o typed.csv --text-file whole.txt")
        assert (FOLDER / "listed.csv").read_text() == (FOLDER / "typed.csv").read_text(), text[:20]
    run("render --text", "@home", "-o", FOLDER / "typed.png")  # a value stays one
    for wrong in ("{}", "[1]", '"--text"', "[", '["--text"]]'):
        options.write_text(wrong)
        said = run("render", f"@{options}", status=1).err
        assert str(options.name) in said, said
    options.write_text('["--text", "a", "-o", "a.png", "--no-such"]')
    assert "--no-such" in run("render", f"@{options}", status=2).err
    assert "missing.json" in run("render @missing.json", status=1).err
    assert "@FILE" in run("--help").out and "@FILE" in run("man").out


def help_examples_run():
    tried = 0
    # Of heads --corpus and --prompts.
    (FOLDER / "texts.txt").write_text("The cat sat on the mat.\nOnce upon a time")
    (FOLDER / "prompts.json").write_text(
        '{"text": "{A} saw a cat. {A}", "metric": "saw", "fill": {"A": ["Lily", "Tom"]}}'
    )
    for verb in tuple("render trace heads generate attribute tokenize learn info models".split()):
        text = run(verb, "--help").out
        examples = [
            line.strip()
            for line in text.split("Examples:")[1].splitlines()
            if "headlight" in line and "FOLDER" not in line
        ]
        for example in examples:
            command = (
                re.sub(r"\bheadlight\b", shlex.quote(str(PROGRAM)), example, count=1)
                if not example.startswith("echo")
                else example.replace("| headlight", "| " + shlex.quote(str(PROGRAM)))
            )
            r = subprocess.run(command, shell=True, cwd=FOLDER, capture_output=True, timeout=120)
            assert r.returncode == 0, (example, r.stderr.decode())
            tried += 1
    assert tried >= 14, tried
    assert "render" in run("--help").out and run("--version").out.startswith("headlight ")


def window_tests_without_a_screen_are_skipped_and_fail_where_a_service_runs_them():
    """None of their tools is on this PATH: 77, which ctest and ./test say as skipped; with CI set
    they fail."""
    empty = FOLDER / "no tools"
    empty.mkdir()
    for script in ("test_window.py", "kill.py"):
        for variables, status, said in (
            ({}, 77, "skipped: Xvfb"),
            ({"CI": "true"}, 1, "FAIL Xvfb"),
        ):
            r = subprocess.run(
                ["/usr/bin/python3", str(TESTS / "window" / script), str(PROGRAM)],
                env={"PATH": str(empty), **variables},
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert r.returncode == status
            assert r.stdout.startswith(said), (script, variables, r.returncode, r.stdout, r.stderr)
