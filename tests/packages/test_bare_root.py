#!/usr/bin/env python3
"""A bare Debian 12 takes the .deb with what it depends on, and runs the program; so does the
.tar.gz there, and the wheel in another one and in a bare Debian 11 (glibc 2.31, Python 3.9) that
have Python and NumPy, and nothing of X11 or fonts.
test_bare_root.py BUILD [FOLDER], which is where a figure drawn there is kept.

Models are fetched there from a server that answers as the hub does. Needs root, debootstrap and
Debian's mirror, and says that it was left out where the first two are missing. The wheel is that of
BUILD/dist, which the step wheel leaves there."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
SOURCE = Path(__file__).resolve().parents[2]
MIRROR = os.environ.get("HEADLIGHT_DEBIAN", "http://deb.debian.org/debian")
sys.path.insert(0, str(SOURCE / "tests"))
from hub_server import Hub

WHEEL = """
import headlight, pathlib
patterns = [[[[1, 0], [0.5, 0.5]]]]
figure = headlight.figure(patterns=patterns, tokens=["The", " cat"], head=(0, 0))
print(figure.svg.count("<symbol"), len(figure.png) > 3000)
pathlib.Path("/tmp/labels.png").write_bytes(figure.png)
try:
    headlight.show(patterns=patterns)
except headlight.HeadlightError as problem:
    print(problem)
"""


def finished(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)


def said(*command, **more):
    done = finished(*command, **more)
    assert done.returncode == 0, f"{command}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
    return done.stdout


def tried(root, *command, **variables):
    """In the root, with /proc, by which the program knows where it lies."""
    environment = {
        **{n: v for n, v in os.environ.items() if n.lower().endswith("_proxy")},
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
        **variables,
    }
    return finished(
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount --make-rprivate / && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"',
        root,
        *command,
        env=environment,
    )


def inside(root, *command, **variables):
    done = tried(root, *command, **variables)
    assert done.returncode == 0, f"{command}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
    return done.stdout


def install(root, *packages):
    inside(root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)


def runs(root, program, version):
    assert version in inside(root, program, "--version")
    inside(root, program, "render", "--text", "The cat sat.", "-o", "/tmp/figure.svg")
    inside(
        root,
        "xvfb-run",
        "-a",
        "-s",
        "-screen 0 1600x1000x24",
        program,
        "--screenshot",
        "/tmp/frame.png",
        "--text",
        "The cat sat.",
    )
    assert (root / "tmp/figure.svg").stat().st_size > 10000
    assert (root / "tmp/frame.png").stat().st_size > 50000
    for name in ("figure.svg", "frame.png"):
        (root / "tmp" / name).unlink()


def fetches(root, hub):
    """With the libcurl that the package depends on; without certificates it says which package has
    them."""
    variables = {"HF_ENDPOINT": hub.endpoint, "no_proxy": "127.0.0.1"}
    folder = inside(root, "headlight", "fetch", "tiny/gpt2", **variables).strip()
    assert (root / folder.lstrip("/") / "config.json").read_bytes() == hub.repositories[
        "tiny/gpt2"
    ]["config.json"]
    assert (
        inside(
            root, "headlight", "heads", "--model", "tiny/gpt2", "--ids", "1,2,3", **variables
        ).count("\n")
        > 4
    )
    if not (root / "etc/ssl/certs/ca-certificates.crt").exists():
        done = tried(
            root,
            "headlight",
            "fetch",
            "tiny/other",
            HF_ENDPOINT=hub.endpoint.replace("http:", "https:"),
            no_proxy="127.0.0.1",
        )
        assert done.returncode == 1, done.stderr
        assert "ca-certificates" in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def deb_and_tar(root, folder, hub):
    for kind in ("DEB", "TGZ"):
        said(
            "cpack",
            "--config",
            BUILD / "CPackConfig.cmake",
            "-G",
            kind,
            "-B",
            root / "tmp",
            cwd=folder,
        )
    (deb,), (tar,) = (root / "tmp").glob("*.deb"), (root / "tmp").glob("*.tar.gz")
    install(root, f"/tmp/{deb.name}")
    version = deb.name.split("_")[1]
    assert version in inside(root, "headlight", "--version")
    assert inside(root, "headlight", "generate", "--text", "Once", "--tokens", "2").startswith(
        "Once"
    )
    fetches(root, hub)
    install(root, "libgl1-mesa-dri", "xvfb", "xauth")
    runs(root, "/usr/bin/headlight", version)
    inside(root, "apt-get", "remove", "-y", "-qq", "headlight")
    assert not (root / "usr/bin/headlight").exists()
    assert not (root / "usr/share/headlight").exists(), "it leaves nothing behind"
    inside(root, "tar", "-xzf", f"/tmp/{tar.name}", "-C", "/opt")
    runs(root, f"/opt/{tar.name.removesuffix('.tar.gz')}/bin/headlight", version)
    return f"{deb.name}, runs it and {tar.name}"


def wheel_alone(root, wheel):
    """Figures with labels and no library of X11, then a window with the system's."""
    install(root, "python3-venv", "python3-numpy")
    assert not list(root.glob("usr/lib/x86_64-linux-gnu/libX11.so*"))
    assert not (root / "etc/fonts/fonts.conf").exists(), "this root is bare no more"
    shutil.copy(wheel, root / "tmp")
    inside(root, "python3", "-m", "venv", "--system-site-packages", "/opt/venv")
    inside(
        root, "/opt/venv/bin/pip", "install", "-q", "--no-index", "--no-deps", f"/tmp/{wheel.name}"
    )
    done = tried(root, "/opt/venv/bin/python", "-c", WHEEL)
    assert done.returncode == 0 and not done.stderr, done.stdout[-1500:] + done.stderr[-1500:]
    drawn, problem = done.stdout.splitlines()
    glyphs, is_png = drawn.split()
    assert int(glyphs) > 30 and is_png == "True" and "no display" in problem, (drawn, problem)
    if sys.argv[2:]:
        shutil.copy(root / "tmp/labels.png", sys.argv[2])
    install(root, "libegl1", "libgl1", "libgl1-mesa-dri", "xvfb", "xauth")
    runs(root, "/opt/venv/bin/headlight", wheel.name.split("-")[1])


def main():
    if os.geteuid() or not shutil.which("debootstrap"):
        print("skip: a bare Debian is made by root with debootstrap")
        return 0
    folder = Path(tempfile.mkdtemp(prefix="headlight-root-"))
    root, second = folder / "root", folder / "second"
    models = SOURCE / "tests/reference/models/gpt2"
    held = {
        f.name: f.read_bytes()
        for f in models.iterdir()
        if f.suffix in (".json", ".safetensors")
        and f.name not in ("cases.json", "config_v4.json", "expected.safetensors")
    }
    wheels = list((BUILD / "dist").glob("*.whl"))
    try:
        said("debootstrap", "--variant=minbase", "bookworm", root, MIRROR)
        inside(root, "apt-get", "update", "-qq")
        said("cp", "-a", root, second)
        with Hub({"tiny/gpt2": held}) as hub:
            packages = deb_and_tar(root, folder, hub)
        if wheels:
            wheel_alone(second, wheels[0])
            said("debootstrap", "--variant=minbase", "bullseye", folder / "older", MIRROR)
            wheel_alone(folder / "older", wheels[0])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(
        (
            f"ok   a bare Debian 12 installs {packages}, fetches a model, and draws one frame of "
            "the "
            "window; "
        )
        + (
            f"so does {wheels[0].name}, in a bare Debian 11 too, without X11 or fonts for figures"
            if wheels
            else "the wheel is not in BUILD/dist: ./test long wheel makes it"
        )
    )
    return 0


sys.exit(main())
