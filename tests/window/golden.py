"""The main screens as they were when someone looked at them."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pictures
from places import LILY, PROGRAM, TESTS

SCREENS = {
    "main": [],
    "steps": ["--view", "steps"],
    "compare": ["--view", "compare", "--do", "compare 3.2"],
    "heads": ["--view", "heads"],
}
LOOKS = {
    "dark": ["--theme", "dark", "--size", "1600x1000"],
    "light-2x": ["--theme", "light", "--size", "2400x1500", "--scale", "2"],
}


def golden_screens(display):
    """Compare the main screens with their golden pictures. HEADLIGHT_GOLDEN=write makes them again;
    look before you commit."""
    file, write = (
        Path(tempfile.mkdtemp()) / "screen.png",
        os.environ.get("HEADLIGHT_GOLDEN") == "write",
    )
    environment = dict(
        os.environ,
        DISPLAY=display.name,
        LIBGL_ALWAYS_SOFTWARE="1",
        XDG_CONFIG_HOME=str(file.parent),
    )
    for screen, options in SCREENS.items():
        for look, size in LOOKS.items():
            words = ["--text", LILY, "--head", "1.2", "--lock", "16,4", *options, *size]
            r = subprocess.run(
                [PROGRAM, "--screenshot", file, *words],
                env=environment,
                capture_output=True,
                timeout=60,
            )
            assert r.returncode == 0, r.stderr
            width, block = (2400, 16) if "2x" in look else (1600, 8)
            time_taken = (width - width // 10, 0, width // 10, 6 * block)
            pictures.check_golden(
                f"{screen}, {look}",
                file.read_bytes(),
                TESTS / f"golden/window-{screen}-{look}.png",
                write,
                block,
                [time_taken],
            )
    shutil.rmtree(file.parent)
