#!/usr/bin/env python3
"""Draw scenes of flat shapes, one of them larger than the others. Ours, free to use (CC0).

    python models/scenes/scenes.py FOLDER        writes six of them, enlarged

Needs numpy, and Pillow to write them.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIDE = 48
COLORS = {
    "red": (206, 44, 46),
    "green": (70, 150, 72),
    "blue": (52, 92, 186),
    "yellow": (236, 196, 58),
    "purple": (132, 70, 160),
    "black": (40, 40, 44),
}
SHAPES = ("circle", "square", "triangle", "cross")
CLASSES = [f"{color} {shape}" for color in COLORS for shape in SHAPES]
LARGE, SMALL, PLACES = (9.5, 12.5), (4.0, 6.0), 4


@dataclass
class Scenes:
    pixels: np.ndarray  # [rows, SIDE, SIDE, 3], 0 … 255
    answers: np.ndarray  # [rows], of CLASSES
    largest: np.ndarray  # [rows, SIDE, SIDE], whether a pixel is the largest shape's


def covers(shape, x, y, r):
    """[rows, SIDE, SIDE]: the pixels of one shape a row; r: half its height."""
    is_shape = lambda k: (shape == k)[:, None, None]
    return (
        is_shape(0) & (x**2 + y**2 < r**2)
        | is_shape(1) & (np.maximum(abs(x), abs(y)) < 0.88 * r)
        | is_shape(2) & (y < 0.85 * r) & (abs(x) < (y + r) * 0.58)
        | is_shape(3) & (np.minimum(abs(x), abs(y)) < 0.32 * r) & (np.maximum(abs(x), abs(y)) < r)
    )


def draw(rng, rows):
    """Each scene: a large shape and two or three small ones of other colors, on a pale ground."""
    palette = np.array(list(COLORS.values()), np.float32)
    grid = np.arange(SIDE) + 0.5
    pixels = np.empty((rows, SIDE, SIDE, 3), np.float32)
    pixels[:] = rng.uniform(205, 240, (rows, 1, 1, 1)) + rng.uniform(-8, 8, (rows, 1, 1, 3))
    color = rng.permuted(np.tile(np.arange(len(COLORS)), (rows, 1)), axis=1)
    shape = rng.integers(0, len(SHAPES), (rows, PLACES))
    r = rng.uniform(*LARGE, rows)
    cx, cy = (rng.uniform(r, SIDE - r) for _ in range(2))
    covered = covers(
        shape[:, 0],
        grid[None, None, :] - cx[:, None, None],
        grid[None, :, None] - cy[:, None, None],
        r[:, None, None],
    )
    largest = covered
    for k in range(PLACES):
        if k:
            small = rng.uniform(*SMALL, rows)
            sx, sy = (rng.uniform(small, SIDE - small) for _ in range(2))
            for _ in range(6):  # moved while it touches the large one
                near = np.hypot(sx - cx, sy - cy) < small + 1.25 * r
                sx, sy = (np.where(near, rng.uniform(small, SIDE - small), v) for v in (sx, sy))
            there = (np.hypot(sx - cx, sy - cy) >= small + 1.25 * r) & (
                (k < PLACES - 1) | (rng.random(rows) < 0.5)
            )
            covered = (
                covers(
                    shape[:, k],
                    grid[None, None, :] - sx[:, None, None],
                    grid[None, :, None] - sy[:, None, None],
                    small[:, None, None],
                )
                & there[:, None, None]
            )
        tint = palette[color[:, k]] + rng.uniform(-14, 14, (rows, 3))
        pixels = np.where(covered[..., None], tint[:, None, None, :], pixels)
    pixels += rng.normal(0, 3, pixels.shape)
    answers = color[:, 0] * len(SHAPES) + shape[:, 0]
    return Scenes(np.clip(pixels.round(), 0, 255).astype(np.uint8), answers, largest)


def main():
    from PIL import Image

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    scene = draw(np.random.default_rng(20_000), 6)
    for pixels, answer in zip(scene.pixels, scene.answers):
        image = Image.fromarray(pixels).resize((4 * SIDE, 4 * SIDE), Image.NEAREST)
        image.save(folder / (CLASSES[answer].replace(" ", "-") + ".png"))


if __name__ == "__main__":
    main()
