#!/usr/bin/env python3
"""Chat templates against transformers' apply_chat_template, byte for byte:
chat_templates.py HEADLIGHT_TESTS [--more FOLDER]

Renders each real template of the packages axolotl and trl (and each .jinja file of a folder) over
conversations with and without system, tools, calls, reasoning, parts and a generation prompt, and
small templates (chat_snippets.txt) that try each filter, test and method. What transformers
refuses must be refused. What a stretch of the text says of its origin must hold."""

import argparse
import datetime
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import chat_conversations
import transformers.utils.chat_template_utils as utils
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

HERE = Path(__file__).resolve().parent
NOW = datetime.datetime(2026, 11, 27, 13, 5, 9)
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
SNIPPET_VARIABLES = {
    "items": [{"n": "b", "v": 2}, {"n": "A", "v": 1}, {"n": "a", "v": 3}],
    "nums": [3, 1, 2.5, 10],
    "word": "Hello wörld <b>",
    "d": {"b": 1, "a": [1, "x", None, True], "items": 7},
    "deep": {"x": {"y": [{"z": "end"}]}},
    "empty": [],
    "zero": 0,
    "yes": True,
    "text": "  a b\n\nc  ",
    "uni": "ÄÖß ŝ",
    "long": "the quick brown fox jumps over the lazy dog " * 2,
}
SNIPPET_MESSAGES = [
    {"role": "user", "content": "Hi <there> é"},
    {"role": "assistant", "content": "Yes"},
]


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(*NOW.timetuple()[:6])


def packaged_templates():
    for package in ("axolotl", "trl"):
        found = importlib.util.find_spec(package)
        if not found:
            sys.exit(f"skipped: the package {package}, which has templates, is not installed")
        yield from Path(found.submodule_search_locations[0]).rglob("*.jinja")


def wanted(tokenizer, text, messages, options):
    """(what transformers renders, or None; why not)"""
    try:
        plain = {k: v for k, v in options.items() if k != "variables"}
        rendered = tokenizer.apply_chat_template(
            messages, tokenize=False, chat_template=text, **plain, **options.get("variables", {})
        )
        return rendered, ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def answers(program, requests):
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "asked", Path(folder) / "answered"
        lines = (json.dumps({**r, "special_tokens": SPECIAL, "now": str(NOW)}) for r in requests)
        asked.write_text("\n".join(lines) + "\n", encoding="utf-8")
        paths = {"HEADLIGHT_CHAT_REQUESTS": asked, "HEADLIGHT_CHAT_ANSWERS": answered}
        done = subprocess.run(
            [program, "--test-case=chat templates as tests/reference*"],
            env=dict(os.environ, TZ="UTC", **{k: str(v) for k, v in paths.items()}),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(f"FAIL {program} cannot answer\n{done.stdout}{done.stderr}")
        return [json.loads(line) for line in answered.read_text(encoding="utf-8").split("\n")[:-1]]


def wrong_origin(answer, messages):
    """What is wrong with the stretches of a text; None: nothing."""
    text, end = answer["text"].encode(), 0
    for begin, stop, *_ in answer["stretches"]:
        if begin != end or stop <= begin:
            return "stretches do not follow each other"
        end = stop
    if end != len(text):
        return "stretches do not cover the text"
    for found in re.finditer(rb"qzx\d[\w ?.]*", text):
        at, mark = found.start(), found.group()[:4].decode()
        index = next(i for i, m in enumerate(messages) if mark in str(m.get("content")))
        _, stop, message, field = next(s for s in answer["stretches"] if s[0] <= at < s[1])
        if (message, field) != (index, "content"):
            return f"{found.group()} comes from message {message}, {field}"
        whole = messages[index]["content"].strip().encode()
        if text[at:].startswith(whole) and stop < at + len(whole):
            return f"only a part of {found.group()} is the message's"
    return None


def difference(want, why, answer):
    """How an answer differs from what transformers renders; None: not at all."""
    if want is None:
        return None if "error" in answer else f"is rendered, but transformers says {why}"
    if "error" in answer:
        return answer["error"]
    got = answer["text"]
    if got == want:
        return None
    at = len(os.path.commonprefix([want, got]))
    begin = max(0, at - 30)
    return f"has {got[begin : at + 40]!r} for {want[begin : at + 40]!r}"


def compare(program, tokenizer, asked):
    """Render (file, text, name, messages, options) of a list; returns counts and failures."""
    requests = [
        {"template": str(file), "messages": messages, **options}
        for file, _, _, messages, options in asked
    ]
    equal, refused, failures = 0, 0, []
    for (file, text, name, messages, options), answer in zip(asked, answers(program, requests)):
        want, why = wanted(tokenizer, text, messages, options)
        bad = difference(want, why, answer)
        if not bad and want is not None:
            bad = wrong_origin(answer, messages)
        if bad:
            failures.append((file, f"FAIL {file.name}, {name}: {bad}"))
        equal += not bad and want is not None
        refused += not bad and want is None
    return equal, refused, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--more", type=Path, help="a folder with more templates")
    options = parser.parse_args()
    utils.datetime = Clock
    words = Tokenizer(models.WordLevel({"<unk>": 0}, "<unk>"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, **SPECIAL)

    files = sorted(packaged_templates())
    files += sorted(options.more.rglob("*.jinja")) if options.more else []
    asked = [
        (file, file.read_text(encoding="utf-8"), *case)
        for file in files
        for case in chat_conversations.cases()
    ]
    equal, refused, failures = compare(options.program, tokenizer, asked)
    bad = len({file for file, _ in failures})
    print(
        f"{len(files) - bad} of {len(files)} chat templates equal: {equal} texts, {refused} "
        "refused by both"
    )
    with tempfile.TemporaryDirectory() as folder:
        snippets = (HERE / "chat_snippets.txt").read_text(encoding="utf-8").split("\n====\n")
        small = []
        for number, text in enumerate(snippets):
            file = Path(folder) / f"snippet {number}"
            file.write_text(text, encoding="utf-8", newline="")
            given = {"variables": SNIPPET_VARIABLES}
            small.append((file, text, repr(text), SNIPPET_MESSAGES, given))
        equal, refused, more = compare(options.program, tokenizer, small)
    print(f"{equal + refused} of {len(small)} small templates equal, {refused} refused by both")
    print(*[line for _, line in failures[:20] + more[:20]], sep="\n")
    sys.exit(bool(failures or more) or len(files) < 30)


if __name__ == "__main__":
    main()
