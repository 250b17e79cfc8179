#!/usr/bin/env python3
"""Includes go one way: base <- kernels <- io <- tokenizer <- model <- trace <- analysis <- learn <- figure <- session <- gpu <- paint <- views <- window, cli."""
import re
import sys
from pathlib import Path

ROOMS = ["base", "kernels", "io", "tokenizer", "model", "trace", "analysis", "learn", "figure"]
APP = ["session", "gpu", "paint", "views", "window", "cli"]
root, bad, seen = Path(sys.argv[1]), [], 0
for file in sorted((root / "core").rglob("*.[ch]*")):
    room = file.relative_to(root / "core").parts[0]
    for target in re.findall(r'#include "(\w+)/', file.read_text(encoding="utf-8")):
        seen += 1
        if target not in ROOMS or ROOMS.index(target) > ROOMS.index(room):
            bad.append(f"{file.relative_to(root)} includes {target}/, which comes after {room}/")
for file in sorted((root / "app").rglob("*.[ch]*")):
    room = file.relative_to(root / "app").parts[0]
    for target in re.findall(r'#include "(\w+)/', file.read_text(encoding="utf-8")):
        seen += 1
        if target not in ROOMS + APP:
            bad.append(f"{file.relative_to(root)} includes the unknown {target}/")
        elif target in APP and room in APP and APP.index(target) > APP.index(room):
            bad.append(f"{file.relative_to(root)} includes {target}/, which comes after {room}/")
        elif room == "cli" and target == "window" and file.name not in ("command_line.cpp", "window_options.cpp"):
            bad.append(f"{file.relative_to(root)} includes {target}/, which only the table of verbs and its options open")
    if room == "session" and re.search(r"#include <(imgui|GLFW|epoxy|GL/)", file.read_text(encoding="utf-8")):
        bad.append(f"{file.relative_to(root)} includes what needs a display")
PLAIN = {"kernels/kernels.h", "kernels/vectors.h", "kernels/products.h", "kernels/dots.h", "kernels/codes.h", "kernels/blocks.h", "kernels/formats.h", "kernels/encoded.h", "kernels/rows.h", "kernels/statistics.h", "kernels/table.h", "kernels/transposed.h", "cstdint", "immintrin.h"}
for file in sorted((root / "core/kernels").iterdir()):  # what is compiled for one instruction set shares no code with the rest
    for target in re.findall(r'#include [<"]([\w/.]+)', file.read_text(encoding="utf-8")):
        if file.stem != "choice" and target not in PLAIN:
            bad.append(f"{file.relative_to(root)} includes {target}, of which the linker keeps one copy for all instruction sets")
table = (root / "app/views/views.cpp").read_text(encoding="utf-8")
views = [name for name in re.findall(r'#include "views/(\w+)\.h"', table) if name not in ("views", "layer_heads")]
for file in sorted((root / "app").rglob("*.[ch]*")):
    for name in re.findall(r'#include "views/(\w+)\.h"', file.read_text(encoding="utf-8")):
        own = file.parent.name == "views" and (file.stem == name or file.stem.startswith(name + "_") or file.stem == "views")
        if name in views and not own:
            bad.append(f"{file.relative_to(root)} names the view {name}, which only its own files and its row do")
print(*bad, sep="\n")
print(f"{seen} includes, {len(bad)} against the order")
sys.exit(bool(bad) or seen < 50 or len(views) < 12)
