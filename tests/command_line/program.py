"""The program that is tested, and how a test runs it."""
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(sys.argv[1]).resolve()
TESTS = Path(__file__).parents[1]
MODELS, MALFORMED = TESTS / "reference/models", TESTS / "reference/malformed"
sys.path.insert(0, str(TESTS))
FOLDER = Path(tempfile.mkdtemp(prefix="headlight cli ümläut "))
SANITIZED = b"__asan_init" in PROGRAM.read_bytes()


def run(*arguments, status=0, text_in=None, limit_mb=None, **more):
    def limit():
        if limit_mb and not SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (limit_mb << 20, limit_mb << 20))
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    r = subprocess.run([str(PROGRAM), *map(str, arguments)], input=text_in, capture_output=True, timeout=120, env=environment, preexec_fn=limit, cwd=FOLDER, **more)
    r.err, r.out = r.stderr.decode(errors="replace"), r.stdout.decode(errors="replace")
    assert r.returncode == status, f"status {r.returncode} for {arguments}: {r.err[:500]}"
    if status:
        assert r.err.startswith("headlight: ") and len(r.err.splitlines()) == 1 and len(r.err) > 30, r.err
        assert r.out == ""
    return r


def header_of(path):
    """The header of a .safetensors file."""
    data = path.read_bytes()
    return json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
