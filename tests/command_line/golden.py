"""Every view's figure as it was when someone looked at it."""

import json
import os
import re
import shutil
from collections import Counter

import pictures
from program import FOLDER, MODELS, TESTS, pdf_text, run, view_keys


def shapes_of(svg):
    """How many shapes are filled outside the glyphs."""
    return len(re.findall(r"fill:(rgb\([^)]*\))", svg.split("</defs>")[-1]))


VIEW, PATCHES = (
    ["--size", "944x720"],
    ["--model", MODELS / "vit", "--image", MODELS / "vit/gradient_rgb.png"],
)
GOLDEN = {
    "head": ["--view", "head", "--layer", "1", "--head", "2"],
    "dots": "--view head --layer 1 --head 2 --marks dots --colormap viridis".split(),
    "words": "--view head --layer 1 --head 2 --join-words --values --grid-lines".split(),
    "heads": ["--view", "heads"],
    "mean": "--view head --layer 1 --mean layer --contrast root --methods".split(),
    "text": ["--view", "text", "--layer", "1", "--head", "2", "--cell", "6,1", *VIEW],
    "steps": ["--view", "steps", "--layer", "1", "--head", "2", "--cell", "6,1", *VIEW],
    "lines": ["--view", "lines", "--layer", "1", *VIEW],
    "delta": ["--view", "delta", "--layer", "2", *VIEW],
    "lens": ["--view", "lens", *VIEW],
    "graph": ["--view", "graph", *VIEW],
    "positions": ["--view", "positions", "--size", "1280x720"],
    "learn": ["--view", "learn"],
    "compare": [
        "--view",
        "compare",
        "--layer",
        "1",
        "--head",
        "2",
        "--text-b",
        "Lily saw a big dog. Lily saw",
        *VIEW,
    ],
    "before": [
        "--view",
        "compare",
        "--show",
        "delta",
        "--change",
        "mask:6>1",
        "--layer",
        "1",
        "--head",
        "2",
        *VIEW,
    ],
    "explain": ["--view", "explain", *VIEW],
    "chat": [
        "--view",
        "chat",
        "--model",
        MODELS / "qwen3",
        "--chat",
        TESTS / "golden/messages.json",
        *VIEW,
    ],
    "contacts": [
        "--model",
        MODELS / "esm",
        "--text",
        "MKTAYIAKQRQISFVKSH",
        "--view",
        "contacts",
        *VIEW,
    ],
    "experts": ["--model", MODELS / "mixtral", "--view", "experts", *VIEW],
    "prompts": ["--view", "prompts", "--prompts", TESTS / "golden/template.json", *VIEW],
    "influence": ["--view", "influence", "--metric", "cat", *VIEW],
    "responses": [
        "--view",
        "influence",
        "--influence",
        "hidden",
        "--layer",
        "1",
        "--head",
        "2",
        *VIEW,
    ],
    "patch": ["--view", "patch", "--ablate", "1.0", "--metric", "cat - dog", *VIEW],
    "origins": ["--view", "origins", "--layer", "2", "--head", "3", "--cell", "6,1", *VIEW],
    "circuits": ["--view", "circuits", "--layer", "1", "--head", "2", *VIEW],
    "composed": "--view circuits --graph --layer 2 --head 3 --size 1280x800".split(),
    "corpus": [
        "--view",
        "corpus",
        "--corpus",
        TESTS / "golden/corpus.txt",
        "--layer",
        "1",
        "--head",
        "2",
        "--size",
        "1280x860",
    ],
    "next": ["--view", "compare", "--show", "next", "--ablate", "1.2", *VIEW],
    "alignment": ["--model", "translator", "--view", "alignment", *VIEW],
    "aligned": ["--model", "translator", "--view", "alignment", "--as-lines", *VIEW],
    "model": ["--model", "translator", "--view", "model", "--size", "1600x1000"],
    "decoder": ["--view", "model", "--size", "1600x1000"],
    "patches": [*PATCHES, "--view", "picture", *VIEW],
}


def golden_figures():
    """Compare every view with its golden picture. HEADLIGHT_GOLDEN=write makes them again; look
    before you commit."""
    folder, write = TESTS / "golden", os.environ.get("HEADLIGHT_GOLDEN") == "write"
    drawn = {options[options.index("--view") + 1] for options in GOLDEN.values()}
    every = set(view_keys())
    assert drawn == every, f"each view has a golden figure, not so {drawn ^ every}"
    for name, options in GOLDEN.items():
        out = {end: FOLDER / f"golden.{end}" for end in ("png", "svg", "pdf")}
        text, small = (
            []
            if {"--image", "--text", "--chat"} & set(options)
            else ["--text", "Lily saw a cat. Lily saw"],
            "--size" not in options,
        )
        for file in out.values():
            run("render", *text, *options, *(["--width-px", "420"] if small else []), "-o", file)
        words = pdf_text(out["pdf"]).split() if shutil.which("pdftotext") else None
        now = {"shapes": shapes_of(out["svg"].read_text()), "text": words}
        assert not [word for word in words or [] if re.search(r"^-\d|\de-\d", word)], (
            f"{name}: a hyphen stands for minus"
        )
        assert not re.search(r"\b(Point at|Click|Drag|Hover|Press)\b", " ".join(words or [])), (
            f"{name}: a page has no pointer"
        )
        pictures.check_golden(
            name, out["png"].read_bytes(), folder / f"{name}.png", write, block=4 if small else 8
        )
        if write:
            (folder / f"{name}.json").write_text(json.dumps(now, ensure_ascii=False) + "\n")
            continue
        golden = json.loads((folder / f"{name}.json").read_text())
        # Another processor rounds a last digit otherwise, which may move a number or a cell to the
        # next color.
        changed = (
            []
            if words is None
            else list(
                (
                    (Counter(words) - Counter(golden["text"]))
                    + (Counter(golden["text"]) - Counter(words))
                ).elements()
            )
        )
        assert len(changed) <= 0.04 * len(golden["text"] or []), (
            f"{name}: the text of the PDF has changed: {changed[:8]}"
        )
        assert abs(now["shapes"] - golden["shapes"]) <= max(2, 0.05 * golden["shapes"]), (
            f"{name}: the filled shapes of the SVG have changed"
        )


def a_changed_picture_fails():
    """A difference that one sees at once fails; one that another computer's smoothing makes does
    not."""
    png = FOLDER / "changed.png"
    run("render", "--text", "Lily saw a cat. Lily saw", *GOLDEN["delta"], "-o", png)
    width, height, channels, rows = pictures.pixels(png.read_bytes())
    golden = FOLDER / "golden picture.png"
    pictures.check_golden("delta", png.read_bytes(), golden, True)

    def fails(change):
        changed = [bytearray(row) for row in rows]
        change(changed)
        try:
            pictures.check_golden("delta", pictures.png_of(changed, channels), golden, False)
        except AssertionError as e:
            return "looks different" in str(e)
        return False

    def fill(x, y, w, h, color):
        def change(r):
            for row in r[y : y + h]:
                row[x * channels : (x + w) * channels] = bytes(color) * w

        return change

    def shift(r):  # by half a label's height
        r[:] = r[6:] + r[-6:]

    def smooth(r):
        for y, row in enumerate(r):
            for i in range(y % 3, len(row), 3):
                row[i] = max(0, min(255, row[i] + (6 if i % 2 else -6)))

    ink = max(range(60, height - 60, 20), key=lambda y: sum(255 - v for v in rows[y]))
    dark = min(
        range(40, width - 60), key=lambda x: sum(rows[ink][x * channels : (x + 1) * channels])
    )
    assert not fails(lambda r: None) and not fails(smooth)
    assert fails(shift), "everything six pixels higher"
    assert fails(fill(dark - 4, ink - 6, 12, 12, (255, 255, 255))), "a cell or label is missing"
    assert fails(fill(20, height - 40, 12, 12, (180, 57, 31))), "something stands where nothing was"
