#!/usr/bin/env python3
"""Check the rooms: includes go one way, a room defines what it declares, and none grows too large.

base <- kernels <- io <- tokenizer <- chat <- model <- hub <- trace <- engine <- analysis <-
learn <- questions <- figure <- session <- gpu <- paint <- parts <- views <- panels <- window, cli
"""

import re
import sys
from pathlib import Path

CORE = (
    "base kernels io tokenizer chat model hub trace engine analysis learn questions figure".split()
)
APP = ["session", "gpu", "paint", "parts", "views", "panels", "window", "cli"]
ORDER = CORE + APP
MAX_ROOM = 6000  # lines of one folder
root, bad, seen = Path(sys.argv[1]), [], 0
texts = {
    file.relative_to(root): file.read_text(encoding="utf-8")
    for top in ("core", "app")
    for file in sorted((root / top).rglob("*.[ch]*"))
    if file.suffix in (".h", ".cpp") and file.name != "main.cpp"
}


def room_of(file):
    return file.parts[1]


def check_order(file, text):
    global seen
    room = room_of(file)
    for target in re.findall(r'#include "(\w+)/', text):
        seen += 1
        if target not in ORDER or (file.parts[0] == "core" and target in APP):
            bad.append(f"{file} includes the unknown {target}/")
        elif ORDER.index(target) > ORDER.index(room):
            bad.append(f"{file} includes {target}/, which comes after {room}/")
        elif (
            room == "cli"
            and target == "window"
            and file.name not in ("command_line.cpp", "markdown.cpp", "window_options.cpp")
        ):
            bad.append(
                f"{file} includes {target}/, which only the table of verbs, its options and the "
                "documents open"
            )
    if room == "session" and re.search(r"#include <(imgui|GLFW|epoxy|GL/)", text):
        bad.append(f"{file} includes what needs a display")


PLAIN_KERNELS = (
    "blocks codes dots encoded formats grids kernels low_bits products rows scaled statistics "
    "table transposed vectors"
)
PLAIN = {f"kernels/{name}.h" for name in PLAIN_KERNELS.split()} | {"cstdint", "immintrin.h"}


def check_kernels(file, text):
    """Code compiled for one instruction set shares nothing with the rest."""
    for target in re.findall(r'#include [<"]([\w/.]+)', text):
        if file.stem != "choice" and target not in PLAIN:
            bad.append(
                f"{file} includes {target}, of which the linker keeps one copy for all "
                "instruction sets"
            )


def check_views(file, text):
    """A view's folder is its own; the table of views and the command line alone name it."""
    for view in re.findall(r'#include "views/(\w+)/', text):
        own = file.parts[1:3] == ("views", view)
        if not own and file != Path("app/views/views.cpp") and room_of(file) != "cli":
            bad.append(f"{file} includes views/{view}/, which only its own files and its row do")


def plain(text):
    """The text without comments, strings and what stands in braces of functions or types."""
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", text)
    text = re.sub(r"\bnamespace [\w:]*\s*\{", "", text)
    while (shorter := re.sub(r"\{[^{}]*\}", ";", text)) != text:
        text = shorter
    return text


def check_declared(file, text):
    """A free function that a header declares is defined in the same room."""
    if file.suffix != ".h" or room_of(file) == "kernels":
        return
    for name in set(
        re.findall(r"^[\w:<>,&*\s]+?[\s&*](\w+)\([^;{}]*\)\s*(?:noexcept)?;", plain(text), re.M)
    ):
        defined = re.compile(
            rf"\b{name}\([^;]*?\)\s*(?:noexcept\s*)?(?::[^;{{]*)?\{{|\b{name}\b[^;]*=\s*\["
        )
        if name.isupper() or name in (
            "embedded_file",
            "embedded_files",
        ):  # macros, and what the build writes
            continue
        if not any(name in body and defined.search(body) for body in bodies[room_of(file)]):
            bad.append(f"{file} declares {name}(), which {room_of(file)}/ does not define")


bodies = {}
for file, text in texts.items():
    bodies.setdefault(room_of(file), []).append(text)
for file, text in texts.items():
    check_order(file, text)
    check_views(file, text)
    check_declared(file, text)
    if room_of(file) == "kernels":
        check_kernels(file, text)
folders = {}
for file, text in texts.items():
    folders[file.parent] = folders.get(file.parent, 0) + text.count("\n")
bad += [
    f"{folder} has {lines} lines; a room has at most {MAX_ROOM}"
    for folder, lines in folders.items()
    if lines > MAX_ROOM
]
views = set(re.findall(r'#include "views/(\w+)/', texts[Path("app/views/views.cpp")]))
print(*bad, sep="\n")
print(
    f"{seen} includes of {len(texts)} files, {len(bad)} against the order; the largest room has "
    f"{max(folders.values())} lines"
)
sys.exit(bool(bad) or seen < 50 or len(views) < 12)
