#!/usr/bin/env python3
"""Build the documents as a site, strictly: a link that leads nowhere or a page without a place is
an error.

build_site.py [FOLDER]      (default build/site; mkdocs is installed once into build/venv)
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "build/venv"
MKDOCS = VENV / "bin/mkdocs"


def main():
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/site").resolve()
    if not (VENV / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    if not MKDOCS.exists():
        pip = [VENV / "bin/python", "-m", "pip", "install", "-q", "--no-compile", "mkdocs==1.6.1"]
        if subprocess.run(pip).returncode:
            print("skipped: mkdocs cannot be installed")
            sys.exit(77)
    build = [MKDOCS, "build", "--strict", "-f", ROOT / "docs/mkdocs.yml", "-d", site]
    if subprocess.run(build).returncode:
        sys.exit(1)
    count = len(list(site.rglob("index.html")))
    print(f"{count} pages in {site}")
    sys.exit(count < 60)


main()
