#!/usr/bin/env python3
"""Pack a wheel again, as small as deflate allows: pack_wheel.py WHEEL

distribute.py runs it with the Python that has its tools. Needs deflate (libdeflate)."""

import sys
import zipfile
from pathlib import Path

import deflate


class Packed:
    """One file, as zipfile writes it: whole, at libdeflate's best level."""

    def __init__(self, *_):
        self.parts = []

    def compress(self, data):
        self.parts.append(bytes(data))
        return b""

    def flush(self):
        return bytes(deflate.deflate_compress(b"".join(self.parts), 12))


def main():
    wheel = Path(sys.argv[1])
    smaller = wheel.with_suffix(".part")
    zipfile._get_compressor = Packed
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w") as new:
        files = [entry for entry in old.infolist() if not entry.is_dir()]
        for entry in files:
            kept = zipfile.ZipInfo(entry.filename, entry.date_time)
            kept.external_attr, kept.compress_type = entry.external_attr, zipfile.ZIP_DEFLATED
            new.writestr(kept, old.read(entry))
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller) as new:
        assert all(new.read(entry.filename) == old.read(entry) for entry in files), smaller
    smaller.replace(wheel)


if __name__ == "__main__":
    main()
