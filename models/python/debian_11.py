"""Debian 11's C library and libraries: what is linked with them runs where glibc is 2.31 or later.

The compiler, its C++ library and the headers stay Debian 12's: C++20 needs them. debian_11.tsv
pins each package by SHA-256; a file that was fetched once is kept for builds without a network."""

import hashlib
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
NEWEST = (2, 31)
MIRRORS = (
    os.environ.get("HEADLIGHT_DEBIAN", "http://deb.debian.org/debian"),
    "http://archive.debian.org/debian",  # where a release goes that is looked after no more
)
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headlight/debian_11"
MACHINE = "x86_64-linux-gnu"
OF_GLIBC = re.compile(
    r"(ld|libc|libm|libmvec|libdl|libpthread|librt|libutil|libnss_\w+|libresolv|libanl|libnsl"
    r"|libthread_db|libmemusage|libpcprofile|libSegFault|libBrokenLocale)[-.]"
)
# Small libraries of ours instead of Debian's: name, source, and what that links with.
# Cairo and Pango find Fontconfig in the program; Pango asks of GIO what list_model.c has.
STAND_INS = {
    "libfontconfig.so.1": (None, ()),
    "libgio-2.0.so.0": ("list_model.c", ("gobject-2.0", "glib-2.0")),
}


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr[-4000:]}")
    return done.stdout


def fetched(digest, place):
    """The package's file, from the kept ones or a mirror."""
    file = KEPT / place.rsplit("/", 1)[1]
    if file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == digest:
        return file
    KEPT.mkdir(parents=True, exist_ok=True)
    problems = []
    for mirror in MIRRORS:
        try:
            with urllib.request.urlopen(f"{mirror}/{place}", timeout=60) as answer:
                data = answer.read()
        except (urllib.error.URLError, OSError) as problem:
            problems.append(f"{mirror}: {problem}")
            continue
        if hashlib.sha256(data).hexdigest() == digest:
            file.write_bytes(data)
            return file
        problems.append(f"{mirror}: another file than debian_11.tsv pins")
    sys.exit(
        f"The wheel is linked with Debian 11's {file.name}, which is not in {KEPT} and cannot be "
        f"fetched ({'; '.join(problems)}); connect, or put the file there."
    )


def newest_glibc(file):
    """The newest version of glibc that a program or library asks for, as numbers."""
    asked = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", run("readelf", "-W", "-V", file))
    return max((int(major), int(minor)) for major, minor in asked) if asked else (0, 0)


class Debian11:
    """The packages unpacked in a folder: a root to link with, and a folder of the libraries that
    are not of the C library, which stays the system's."""

    def __init__(self, folder):
        self.root, self.libraries = folder / "root", folder / "libraries"
        self.root.mkdir(parents=True)
        self.libraries.mkdir()
        self.owners = {}
        for row in (HERE / "debian_11.tsv").read_text().splitlines():
            file = fetched(*row.split("\t"))
            run("dpkg-deb", "-x", file, self.root)
            for line in run("dpkg-deb", "-c", file).splitlines():
                self.owners[self.root / line.split()[5].removeprefix("./")] = file
        self.point_inside()
        for place in (self.root / "lib" / MACHINE, self.root / "usr/lib" / MACHINE):
            for path in place.glob("lib*.so.*"):
                if not OF_GLIBC.match(path.name):
                    (self.libraries / path.name).symlink_to(path.resolve())
        self.stand_ins = folder / "stand_ins"
        self.stand_ins.mkdir()
        for name, (source, parts) in STAND_INS.items():
            self.stand_in(name, HERE / source if source else os.devnull, parts)
        self.older = folder / "older_glibc.o"
        run("cc", "-O2", "-fPIC", "-c", HERE / "older_glibc.c", "-o", self.older)

    def point_inside(self):
        """Keep absolute links in the root: they would reach the system's C library."""
        for path in self.root.rglob("*"):
            if path.is_symlink() and os.readlink(path).startswith("/"):
                target = self.root / os.readlink(path)[1:]
                path.unlink()
                path.symlink_to(target)

    def stand_in(self, name, source, parts):
        """Make a library that Debian 11's ask for by its name alone, or for little of."""
        headers = run("pkg-config", "--cflags", *parts).split() if parts else []
        file = self.stand_ins / name
        options = ("-x", "c", "-O2", "-s", "-shared", "-fPIC", f"-Wl,-soname={name},--no-as-needed")
        asked = [self.libraries / f"lib{part}.so.0" for part in parts]
        run("cc", *options, *headers, source, "-x", "none", *asked, "-o", file)
        link = self.libraries / name
        link.unlink(missing_ok=True)
        link.symlink_to(file)

    def link_flags(self):
        """What the compiler's driver is given. Debian 12's Fontconfig is inside the program, which
        lends it to Cairo and Pango: Debian 11's complains of newer systems' configuration. Its stb
        too: ImGui is compiled for its larger coordinates."""
        usr, lib = self.root / "usr/lib" / MACHINE, self.root / "lib" / MACHINE
        system = f"/usr/lib/{MACHINE}"
        return " ".join(
            (
                f"--sysroot={self.root} -B{usr} -L{usr} -L{lib} -static-libstdc++ -static-libgcc",
                # g++ moves a plain -lc to the end, where Oniguruma's regcomp comes before it.
                f"-Wl,--push-state,--no-as-needed,-lc,{self.older},-lpthread,-ldl,-lm,--pop-state",
                "-Wl,--allow-shlib-undefined -Wl,--export-dynamic-symbol=Fc*",
                f"-Wl,-rpath-link,{self.libraries}:{system}:{lib}",
                f"-Wl,--whole-archive {system}/libfontconfig.a {system}/libstb.a",
                f"-Wl,--no-whole-archive {self.libraries}/libfreetype.so.6",
                f"{self.libraries}/libexpat.so.1 -Wl,--as-needed -Wl,--gc-sections",
            )
        )

    def environment(self):
        """Variables with which ldd and auditwheel find these libraries before the system's."""
        return {**os.environ, "LD_LIBRARY_PATH": str(self.libraries)}

    def describe(self, path):
        """Package, version, source and copyright of a file in the root; None of another file."""
        file = self.owners.get(path)
        if file is None:
            return None
        fields = dict(re.findall(r"^(\S+): (.*)$", run("dpkg-deb", "-f", file), re.M))
        package, version = fields["Package"], fields["Version"]
        source = fields.get("Source", package)
        text = (self.root / f"usr/share/doc/{package}/copyright").read_text(errors="replace")
        return package, version, source if "(" in source else f"{source} {version}", text
