#!/usr/bin/env python3
"""A bare Debian 12 takes the .deb with what it depends on, and runs the program; so does the .tar.gz there. test_bare_root.py BUILD

Needs root, debootstrap and Debian's mirror, and says that it was left out where the first two are missing."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
MIRROR = os.environ.get("HEADLIGHT_DEBIAN", "http://deb.debian.org/debian")


def said(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
    return done.stdout


def inside(root, *command):
    """In the root, with /proc, by which the program knows where it lies."""
    environment = {**{n: v for n, v in os.environ.items() if n.lower().endswith("_proxy")}, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    return said("unshare", "--mount", "sh", "-c", 'mount --make-rprivate / && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', root, *command, env=environment)


def runs(root, program, version):
    assert version in inside(root, program, "--version")
    inside(root, program, "render", "--text", "The cat sat.", "-o", "/tmp/figure.svg")
    inside(root, "xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", program, "--screenshot", "/tmp/frame.png", "--text", "The cat sat.")
    assert (root / "tmp/figure.svg").stat().st_size > 10000 and (root / "tmp/frame.png").stat().st_size > 50000
    for name in ("figure.svg", "frame.png"):
        (root / "tmp" / name).unlink()


def main():
    if os.geteuid() or not shutil.which("debootstrap"):
        print("skip: a bare Debian is made by root with debootstrap")
        return 0
    folder = Path(tempfile.mkdtemp(prefix="headlight-root-"))
    root = folder / "root"
    try:
        said("debootstrap", "--variant=minbase", "bookworm", root, MIRROR)
        for kind in ("DEB", "TGZ"):
            said("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", kind, "-B", root / "tmp", cwd=folder)
        (deb,), (tar,) = (root / "tmp").glob("*.deb"), (root / "tmp").glob("*.tar.gz")
        inside(root, "apt-get", "update", "-qq")
        inside(root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", f"/tmp/{deb.name}")
        version = deb.name.split("_")[1]
        assert version in inside(root, "headlight", "--version") and inside(root, "headlight", "generate", "--text", "Once", "--tokens", "2").startswith("Once")
        inside(root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "libgl1-mesa-dri", "xvfb", "xauth")
        runs(root, "/usr/bin/headlight", version)
        inside(root, "apt-get", "remove", "-y", "-qq", "headlight")
        assert not (root / "usr/bin/headlight").exists() and not (root / "usr/share/headlight").exists(), "it leaves nothing behind"
        inside(root, "tar", "-xzf", f"/tmp/{tar.name}", "-C", "/opt")
        runs(root, f"/opt/{tar.name.removesuffix('.tar.gz')}/bin/headlight", version)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"ok   a bare Debian 12 installs {deb.name}, runs it and {tar.name}, and draws one frame of the window")
    return 0


sys.exit(main())
