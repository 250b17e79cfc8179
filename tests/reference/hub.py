#!/usr/bin/env python3
"""Read the Hugging Face cache that `headlight fetch` fills by huggingface_hub and transformers, and
the other way around:

python hub.py build/headlight
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.argv[1]).resolve()
HOME = Path(tempfile.mkdtemp(prefix="headlight hub "))
sys.path.insert(0, str(HERE.parent))
from hub_server import Hub, pull

files = {
    name: {
        f.name: f.read_bytes()
        for f in sorted((HERE / "models" / name).iterdir())
        if f.suffix in (".json", ".safetensors", ".txt")
        and f.name not in ("cases.json", "config_v4.json", "expected.safetensors")
    }
    for name in ("gpt2", "gpt2_sharded", "bert")
}
server = Hub({f"tiny/{name}": held | {"README.md": b"# x\n"} for name, held in files.items()})
# Main has a pickle in the place of the safetensors, which a pull request has.
files["converted"] = files["bert"]
server.repositories["tiny/converted"] = {
    name: data for name, data in files["bert"].items() if name != "model.safetensors"
} | {"pytorch_model.bin": b"pickle"}
server.pulls["tiny/converted"] = [pull(3, files["bert"] | {"pytorch_model.bin": b"pickle"})]
revisions = {"converted": "refs/pr/3"}
os.environ |= {
    "HF_HOME": str(HOME),
    "HF_ENDPOINT": server.endpoint,
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
for name in ("HF_TOKEN", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE"):
    os.environ.pop(name, None)
import huggingface_hub
import transformers


def fetch(name):
    return json.loads(
        subprocess.run(
            [PROGRAM, "fetch", name, "--json"], check=True, capture_output=True, text=True
        ).stdout
    )


def python_finds_what_was_fetched(name):
    fetched = fetch(f"tiny/{name}")
    names = {f["name"] for f in fetched["files"]}
    revision = revisions.get(name, "main")
    path = huggingface_hub.snapshot_download(
        f"tiny/{name}", revision=revision, local_files_only=True
    )
    assert Path(path) == Path(fetched["path"]), (path, fetched["path"])
    for file in names:
        found = huggingface_hub.try_to_load_from_cache(f"tiny/{name}", file, revision=revision)
        assert Path(found).read_bytes() == files[name][file], file
    before = len(server.requests)
    for file in names:
        huggingface_hub.hf_hub_download(f"tiny/{name}", file, revision=revision)
    assert {method for _, method, path, _ in server.requests[before:] if "/resolve/" in path} == {
        "HEAD"
    }, "it has nothing to fetch"
    (repository,) = [
        r for r in huggingface_hub.scan_cache_dir().repos if r.repo_id == f"tiny/{name}"
    ]
    (snapshot,) = repository.revisions
    assert (
        snapshot.commit_hash
        == fetched["commit"]
        == server.commit(f"tiny/{name}", server.held(f"tiny/{name}", revision))
    )
    assert snapshot.refs == {revision}
    assert fetched["revision"] == revision
    assert {(f.file_name, f.size_on_disk) for f in snapshot.files} == {
        (f["name"], f["bytes"]) for f in fetched["files"]
    }
    model = transformers.AutoModel.from_pretrained(
        f"tiny/{name}", revision=revision, local_files_only=True
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        f"tiny/{name}", revision=revision, local_files_only=True
    )
    assert model.num_parameters() > 1000 and len(tokenizer) > 100


def what_python_fetched_is_found(name):
    wanted = [f["name"] for f in fetch(f"tiny/{name}")["files"]]
    os.rename(HOME / "hub", HOME / f"first {name}")
    path = huggingface_hub.snapshot_download(
        f"tiny/{name}", revision=revisions.get(name, "main"), allow_patterns=wanted
    )
    again = fetch(f"tiny/{name}")
    assert again["received"] == 0 and Path(again["path"]) == Path(path)
    tree = lambda folder: {
        str(p.relative_to(folder)): (
            os.readlink(p) if p.is_symlink() else p.is_dir() or p.read_bytes()
        )
        for p in folder.rglob("*")
        if ".locks" not in p.parts
        and p.name != "CACHEDIR.TAG"
        and not {".no_exist", "trees"} & set(p.parts)
    }
    own, theirs = (
        tree(HOME / f"first {name}/models--tiny--{name}"),
        tree(HOME / f"hub/models--tiny--{name}"),
    )
    assert own == theirs, set(own.items()) ^ set(theirs.items())


for each in files:
    python_finds_what_was_fetched(each)
for each in files:
    what_python_fetched_is_found(each)
server.close()
print(
    f"{len(files)} models in one cache with huggingface_hub {huggingface_hub.__version__}: read "
    "by it, and its own read by headlight"
)
