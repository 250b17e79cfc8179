"""An adapter on the built-in model: its chip, its strength, base beside adapted."""

import json
import math
import struct
import tempfile
from pathlib import Path

from drive import Window
from places import LILY, PROGRAM

WIDTH, LAYERS, RANK = 256, 4, 2


def _write_adapter(folder, base="stories"):
    """A LoRA on every W_Q, W_K and W_V of the built-in model, of sines, as peft saves it."""
    shapes = {}
    for layer in range(LAYERS):
        name = f"base_model.model.transformer.h.{layer}.attn.c_attn."
        shapes[name + "lora_A.weight"] = (RANK, WIDTH)
        shapes[name + "lora_B.weight"] = (3 * WIDTH, RANK)
    header, data = {}, b""
    for number, (name, (rows, columns)) in enumerate(shapes.items()):
        values = [0.07 * math.sin(number + 1.7 * i) for i in range(rows * columns)]
        packed = struct.pack(f"<{len(values)}f", *values)
        header[name] = {
            "dtype": "F32",
            "shape": [rows, columns],
            "data_offsets": [len(data), len(data) + len(packed)],
        }
        data += packed
    text = json.dumps(header).encode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    config = {
        "peft_type": "LORA",
        "r": RANK,
        "lora_alpha": 4,
        "target_modules": ["c_attn"],
        "fan_in_fan_out": True,
        "base_model_name_or_path": base,
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def _strength(r):
    """The strength in the model's name, "stories + poems × 0.50"; as trained without one."""
    name, times, number = r["model"].partition(" × ")
    return float(number.replace("−", "-")) if times else 1.0


def an_adapter_has_a_chip_and_a_strength(display):
    """The slider, the keys and the command choose the strength; text, head and cell stay, undo goes
    back to where a series of changes began."""
    with tempfile.TemporaryDirectory() as folder:
        poems = _write_adapter(Path(folder) / "poems")
        options = ("--text", LILY, "--head", "3.2", "--adapter", f"{poems}=0.5")
        with Window(PROGRAM, display, *options) as w:
            w.settled()
            r = w.wait(lambda r: {"adapter/chip", "adapter/strength"} <= set(r["widgets"]))
            w.key("Escape")
            w.click("adapter/trained")
            r = w.wait(lambda r: _strength(r) == 1 and not r["busy"])
            assert r["shown_head"] == [3, 2], r["shown_head"]
            w.key("bracketleft")
            w.wait(lambda r: abs(_strength(r) - 0.9) < 1e-6 and not r["busy"])
            w.drag("adapter/strength", (0.66, 0.5), (0.335, 0.5))
            r = w.wait(lambda r: _strength(r) == 0 and not r["busy"])
            assert r["shown_head"] == [3, 2], r["shown_head"]
            w.key("ctrl+z")
            w.wait(lambda r: _strength(r) == 0.5 and not r["busy"])
            w.drop(Path(__file__).resolve().parents[2] / "models" / "stories")
            w.wait(lambda r: "adapter/chip" not in r["widgets"] and not r["busy"])
            assert "adapter/strength" not in w.report()["widgets"]


def base_and_adapted_stand_side_by_side(display):
    with tempfile.TemporaryDirectory() as folder:
        poems = _write_adapter(Path(folder) / "poems")
        options = ("--text", LILY, "--adapter", str(poems), "--report-texts")
        with Window(PROGRAM, display, *options) as w:
            w.settled()
            w.click("adapter/compare")
            titles = {"Base", "Adapted", "Adapted − base", "ΔQK", "ΔOV"}
            w.wait(  # the columns are measured in the background
                lambda r: (
                    r["view"] == "Compare"
                    and "compare/map/2" in r["widgets"]
                    and "compare/columns" in r["widgets"]
                    and titles <= set(r["texts"])
                    and not r["busy"]
                )
            )
            for rank in ("change of QK", "change of OV"):
                w.click("compare/rank")
                w.click(f"compare/rank/{rank}")
                w.wait(lambda r: rank in r["texts"] and not r["busy"])


def _items(r):
    return [path for path in r["widgets"] if path.startswith("compare/curve/")]


def a_curve_shows_the_prediction_over_strengths(display):
    """The curve is measured once in the background, whatever strength is shown; its slider and a
    click on it choose the strength, and the slider under the header makes room for it."""
    with tempfile.TemporaryDirectory() as folder:
        poems = _write_adapter(Path(folder) / "poems")
        options = ("--text", LILY, "--adapter", str(poems), "--report-texts")
        with Window(PROGRAM, display, *options) as w:
            w.settled()
            w.click("adapter/compare")
            r = w.wait(
                lambda r: r.get("strengths") == [31, ""] and "compare/strength" in r["widgets"]
            )
            assert "adapter/strength" not in r["widgets"]
            assert any(t.startswith("The base predicts ") for t in r["texts"]) or any(
                t.startswith("The model predicts ") for t in r["texts"]
            ), r["texts"]
            w.drag("compare/strength", (0.66, 0.5), (0.335, 0.5))
            r = w.wait(lambda r: _strength(r) == 0 and not r["busy"])
            assert r["strengths"] == [31, ""]  # as it was
            w.point("compare/strengths", 0.5, 0.5)
            w.tool("click", "1")
            w.wait(lambda r: _strength(r) == 0.5 and not r["busy"])
            w.click("compare/curve")
            r = w.wait(lambda r: len(_items(r)) == 2)
            w.click(next(item for item in _items(r) if not item.endswith("next token")))
            w.wait(lambda r: r["compare_curve"] == 1)
            w.click("compare/show")
            w.click("compare/show/next tokens")
            w.wait(lambda r: "adapter/strength" in r["widgets"])
