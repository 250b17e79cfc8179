#!/usr/bin/env python3
"""The packages that cpack makes of a build, .deb and .tar.gz, unpacked anywhere, hold a program
that runs and all that a desktop asks for.

test_packages.py BUILD"""

import configparser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
SOURCE = Path(__file__).resolve().parents[2]
FOLDER = Path(tempfile.mkdtemp(prefix="headlight packages é "))


def said(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}{done.stdout[-2000:]}"
    return done.stdout


def make_packages():
    """Beside the build, with what it has built."""
    for kind in ("DEB", "TGZ"):
        said(
            "cpack",
            "--config",
            BUILD / "CPackConfig.cmake",
            "-G",
            kind,
            "-B",
            FOLDER / "made",
            cwd=FOLDER,
        )
    (deb,) = (FOLDER / "made").glob("*.deb")
    (tar,) = (FOLDER / "made").glob("*.tar.gz")
    return deb, tar


def runs(prefix, hide):
    """--version, a figure and one frame of the window, while the source folder's models cannot be
    seen."""
    program = prefix / "bin/headlight"
    environment = {
        **os.environ,
        "HOME": str(FOLDER / "home"),
        "XDG_CONFIG_HOME": str(FOLDER / "home"),
    }
    run = lambda *arguments, before=(): said(
        *hide, *before, program, *arguments, env=environment, cwd=FOLDER
    )
    assert re.fullmatch(r"headlight \d+\.\d+\.\d+|\d+\.\d+\.\d+", run("--version").strip())
    figure, frame = prefix / "figure.svg", prefix / "frame.png"
    run("render", "--text", "The cat sat.", "-o", figure)
    assert figure.stat().st_size > 10000
    run(
        "--screenshot",
        frame,
        "--text",
        "The cat sat.",
        before=("xvfb-run", "-a", "-s", "-screen 0 1600x1000x24"),
    )
    assert frame.stat().st_size > 50000, "one frame of the window"
    listed = run("models")
    assert str(prefix) in listed or "built in" in listed, listed
    capture = prefix / "share/headlight/capture_trace.py"
    assert (capture.parent / "python/headlight/__init__.py").exists()
    assert os.access(capture, os.X_OK)


def desktop_finds_it(prefix):
    """Names agree: the entry's program, icon, window class and types, the metainfo's id, the types'
    names."""
    share = prefix / "share"
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read(share / "applications/headlight.desktop")
    entry = entry["Desktop Entry"]
    assert entry["Exec"].split()[0] == "headlight" and (prefix / "bin/headlight").exists()
    assert (
        f'GLFW_X11_CLASS_NAME, "{entry["StartupWMClass"]}"'
        in (SOURCE / "app/window/screen.cpp").read_text()
    )
    for size in (16, 32, 48, 64, 128, 256):
        png = (share / f"icons/hicolor/{size}x{size}/apps/{entry['Icon']}.png").read_bytes()
        assert int.from_bytes(png[16:20], "big") == int.from_bytes(png[20:24], "big") == size
    assert (share / f"icons/hicolor/scalable/apps/{entry['Icon']}.svg").exists()
    (info,) = (share / "metainfo").iterdir()
    told = xml.parse(info).getroot()
    assert info.name == told.findtext("id") + ".metainfo.xml"
    assert told.findtext("launchable") == "headlight.desktop"
    assert told.find("releases/release").get("version") in said(
        prefix / "bin/headlight", "--version"
    )
    named = [t.get("type") for t in xml.parse(share / "mime/packages/headlight.xml").getroot()]
    assert (
        entry["MimeType"].strip(";").split(";")
        == named
        == [m.text for m in told.findall("provides/mediatype")]
    )
    assert (share / "doc/headlight/copyright").read_text() == (SOURCE / "LICENSE").read_text()
    assert (share / "man/man1/headlight.1").read_text().startswith(".TH")
    assert "complete" in (share / "bash-completion/completions/headlight").read_text()
    if shutil.which("appstreamcli"):
        said("appstreamcli", "validate", "--no-net", info)


def types_are_recognized(prefix):
    """By the desktop's own data base, where it is installed."""
    if not shutil.which("update-mime-database") or not shutil.which("gio"):
        return " (file types: gio is not installed here)"
    home = FOLDER / "types"
    shutil.copytree(prefix / "share/mime", home / "mime")
    said("update-mime-database", home / "mime")
    workspace, trace = FOLDER / "a.headlight.json", FOLDER / "t.safetensors"
    workspace.write_text("{}")
    said(prefix / "bin/headlight", "trace", "--text", "The cat sat.", "-o", trace)
    for file, kind in ((workspace, "workspace+json"), (trace, "trace")):
        told = said(
            "gio",
            "info",
            "-a",
            "standard::content-type",
            file,
            env={**os.environ, "XDG_DATA_HOME": str(home)},
        )
        assert f"application/x-headlight-{kind}" in told, told
    return ""


def main():
    hide = [
        "unshare",
        "--mount",
        "--map-root-user",
        "sh",
        "-c",
        'mount -t tmpfs none "$0" && exec "$@"',
        str(SOURCE / "models"),
    ]
    hide = hide if subprocess.run([*hide, "true"], capture_output=True).returncode == 0 else []
    deb, tar = make_packages()
    depends = said("dpkg-deb", "-f", deb, "Depends")
    assert all(
        name in depends
        for name in ("libc6", "libpangocairo-1.0-0", "libglfw3", "libgl1", "libcurl4")
    ), depends
    said("dpkg-deb", "-x", deb, FOLDER / "root")
    said("tar", "-xzf", tar, "-C", FOLDER)
    (moved,) = [p for p in FOLDER.iterdir() if p.name.startswith("headlight-") and p.is_dir()]
    for prefix in (FOLDER / "root/usr", moved):
        runs(prefix, hide)
        desktop_finds_it(prefix)
    without = types_are_recognized(moved)
    sizes = ", ".join(f"{p.name} {p.stat().st_size / 1e6:.0f} MB" for p in (deb, tar))
    shutil.rmtree(FOLDER)
    print(
        f"ok   {sizes}: the program runs from where it is unpacked"
        + ("" if hide else " (the source folder could not be hidden)")
        + without
    )


main()
