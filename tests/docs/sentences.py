#!/usr/bin/env python3
"""Collect the sentences that the program shows into one catalog, assets/en.json.

    sentences.py ROOT           prints the catalog
    sentences.py ROOT --check   fails where assets/en.json is not current

The catalog lists the texts of the window, its messages and its command line by the file to change
them in; {} is a value. Read it, check it, or translate from it. It is not part of the program."""

import json
import re
import sys
from pathlib import Path

TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*)"
    r'|(?P<raw>R"(\w*)\(.*?\)\3")'
    r'|(?P<text>(?:u8)?"(?:[^"\\\n]|\\.)*")'
    r"|(?P<char>(?<!\w)'(?:[^'\\\n]|\\.)+')"
    r"|(?P<word>[A-Za-z_]\w*|\d[\w.']*)"
    r"|(?P<sign>->|::|&&|\|\||[=!<>]=|<<|.)",
    re.S | re.M,
)
OPEN, CLOSE = "([{", ")]}"
ENDS = {",", ";", "?", ":", "{", "}", "=", "==", "!=", "return", "&&", "||", "<<", "case", "TRY"}
COMMAND = "python3 tests/docs/sentences.py . > assets/en.json"
ROOMS = ["app", "core"]
ASSETS = ["explanations", "learn", "tries"]
TABLES = r"core/tokenizer/(unicode_scripts|gguf_splits)\.cpp"  # of names, not of sentences
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}
NAMED = {  # calls whose first argument names a widget, a command or a key of a file
    *("button", "chip", "choose", "contains", "control", "drop_down", "entry", "erase", "explain"),
    *("find", "flag", "hit", "integer", "link", "list", "name", "pop_up", "press", "report"),
    *("segments", "send", "slider", "text_input", "toggle", "tooltip", "uniform"),
}
NOT_ENGLISH = (  # keys; fonts; shaders and scripts
    r"((Ctrl|Shift|Alt)\+|Space$|Esc$|Enter$|Tab$|Home$|End$|Menu$|F\d+$)(?!.*[a-z]{3} )"
    r"|.*(slant=|monospace|sans-serif)|#version|[_#]\w+|complete -"
)


def unescaped(literal):
    inner = literal[literal.index('"') + 1 : -1]
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[0]), inner)


def tokens_of(source):
    found = ((m.lastgroup, m.group(m.lastgroup)) for m in TOKEN.finditer(source))
    return [token for token in found if token[0] != "skip"]


def is_named(tokens, at):
    """Whether the bracket opens the arguments of a method that takes a name first."""
    is_call = at >= 2 and tokens[at][1] == "(" and tokens[at - 2][1] in (".", "->")
    return is_call and tokens[at - 1][1] in NAMED


def templates(tokens, at=0, named=False):
    """Return the texts of an expression with {} for values; `named`: the first one is a name."""
    parts, out = [], []

    def end():
        nonlocal named
        if any(kind == "text" for kind, _ in parts):
            text = template_of(parts)
            if not (named and re.match(r"[a-z{]", text) and "…" not in text):
                out.append(text)
        named = False
        parts.clear()

    while at < len(tokens):
        kind, text = tokens[at]
        if kind == "sign" and text in CLOSE:
            end()
            return at + 1, out
        if kind == "sign" and text in OPEN:
            at, inner = templates(tokens, at + 1, is_named(tokens, at))
            out += inner
            if text == "{":
                end()
            else:
                parts.append(("value", text))
            continue
        if text in ENDS and kind in ("sign", "word"):
            end()
        else:
            parts.append((kind, text))
        at += 1
    end()
    return at, out


def template_of(parts):
    """Join neighboring literals as the compiler does; a value between two + becomes {}."""
    out, value = "", False
    for kind, text in parts:
        if kind == "text":
            out += ("{}" if value else "") + unescaped(text)
            value = False
        elif text != "+":
            value = True
    return out + ("{}" if value else "")


def without_marks(text):
    """Return the texts between the tags of HTML or the requests of a manual page."""
    if re.search(r"(^|\n|\{\})\.[A-Z]{2}", text):
        return re.sub(r"(?m)^(\{\})?\.[A-Za-z]+ ?", "", text).split("\n")
    if not re.search(r"</?[a-z][a-z0-9]*[ >]|<!DOCTYPE", text):
        return [text]
    return re.split(r"<[^>]*>", text)


def is_sentence(text, commands, in_core):
    words = text.replace("{}", " ").strip()
    if text in commands or re.match(NOT_ENGLISH, words) or "${" in text:
        return False
    if re.fullmatch(r"[a-z0-9_./:*=%\\-]+|\{\}[\w./{}]+|[a-z ]+(/[a-z ]+)+", words):
        return False
    if re.match(r"[a-z][a-z ]* (\[?[A-Z]+\b|\S+\|)", text) and text.split(" ")[0] in {
        command.split(" ")[0] for command in commands
    }:
        return False  # a command and its words: "slide go NUMBER"
    if re.search(r"[A-Za-z]{2,}.* [A-Za-z]*[a-z]{2}|(^|\W)[A-Za-z][a-z]{2,}[.!?]$", words):
        return True
    return not in_core and bool(re.fullmatch(r"[A-Z][a-z]{2,}[^/_]*", words))  # a label


def sentences_of(file, commands, in_core):
    tokens, at, found = tokens_of(file.read_text(encoding="utf-8")), 0, []
    while at < len(tokens):
        at, some = templates(tokens, at)
        found += some
    texts = [part.strip() for text in found for part in without_marks(text)]
    return [text for text in dict.fromkeys(texts) if is_sentence(text, commands, in_core)]


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_of(inner)


def catalog(root):
    listed = (root / "docs/commands.md").read_text(encoding="utf-8")
    commands = {re.sub(r" *[A-Z\[{(].*", "", name) for name in re.findall(r"`([^`]+)`", listed)}
    out = {}
    for room in ROOMS:
        for file in sorted((root / room).rglob("*")):
            name = file.relative_to(root).as_posix()
            if file.suffix in (".cpp", ".h") and not re.match(TABLES, name):
                out[name] = sentences_of(file, commands, room == "core" and "/learn/" not in name)
    for asset in ASSETS:
        texts = texts_of(json.loads((root / f"assets/{asset}.json").read_text(encoding="utf-8")))
        out[f"assets/{asset}.json"] = [
            text for text in dict.fromkeys(texts) if " " in text and text not in commands
        ]
    return {name: texts for name, texts in out.items() if texts}


def page(root):
    return json.dumps(catalog(root), indent=1, ensure_ascii=False) + "\n"


def main():
    root, text = Path(sys.argv[1]), page(Path(sys.argv[1]))
    if "--check" not in sys.argv:
        print(text, end="")
    elif (root / "assets/en.json").read_text(encoding="utf-8") != text:
        sys.exit(f"assets/en.json is not current; run {COMMAND}")


if __name__ == "__main__":
    main()
