"""fetch: models from a server that answers as the Hugging Face hub does, whole, cut, wrong,
refused, stopped."""

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

import gguf_parts
from hub_server import Hub, blob_hash
from program import FOLDER, MODELS, PROGRAM, words_of

NAMES = tuple(
    """
    HF_TOKEN HUGGING_FACE_HUB_TOKEN HF_TOKEN_PATH HF_HUB_CACHE HUGGINGFACE_HUB_CACHE HF_HUB_OFFLINE
    TRANSFORMERS_OFFLINE HF_HUB_DISABLE_IMPLICIT_TOKEN http_proxy https_proxy all_proxy HTTP_PROXY
    HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY DISPLAY XDG_CACHE_HOME
""".split()
)
USELESS = {
    "README.md": b"# A model\n",
    "pytorch_model.bin": b"pickle",
    "onnx/model.onnx": b"onnx",
    ".gitattributes": b"*",
}


def files_of(name):
    return {
        f.name: f.read_bytes()
        for f in sorted((MODELS / name).iterdir())
        if f.name not in ("cases.json", "config_v4.json", "expected.safetensors")
    } | USELESS


def fresh(name):
    home = FOLDER / f"hf {name}"
    shutil.rmtree(home, ignore_errors=True)
    return home


def run(hub, home, command, *arguments, status=0, limit=None, **more):
    environment = (
        {k: v for k, v in os.environ.items() if k not in NAMES}
        | {"HF_HOME": str(home), "HF_ENDPOINT": hub if isinstance(hub, str) else hub.endpoint}
        | more
    )
    bound = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
    r = subprocess.run(
        [PROGRAM, *words_of(command, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd=FOLDER,
        preexec_fn=bound,
    )
    assert r.returncode == status, f"status {r.returncode}: {r.stderr[:600]}"
    if status:
        assert r.stderr.startswith("headlight: "), r.stderr
        assert len(r.stderr.splitlines()) == 1, r.stderr
        assert len(r.stderr) > 40, r.stderr
        assert not r.stdout, r.stderr
    return r


def fetched(hub, home, *arguments, **more):
    return json.loads(run(hub, home, "fetch --json", *arguments, **more).stdout)


def folder_of(home, repository):
    return home / "hub" / ("models--" + repository.replace("/", "--"))


def check_cache(hub, home, repository, names):
    """Blobs by their hash, links to them, the ref; nothing else."""
    folder, commit = folder_of(home, repository), hub.commit(repository)
    snapshot = folder / "snapshots" / commit
    held = sorted(str(f.relative_to(snapshot)) for f in snapshot.rglob("*") if not f.is_dir())
    assert held == sorted(names), held
    for name in names:
        data = hub.repositories[repository][name]
        blob = folder / "blobs" / blob_hash(name, data)
        link = snapshot / name
        assert blob.read_bytes() == data
        assert link.is_symlink()
        assert not os.readlink(link).startswith("/")
        assert link.resolve() == blob.resolve()
    assert len(list((folder / "blobs").iterdir())) == len(
        {blob_hash(n, hub.repositories[repository][n]) for n in names}
    )
    assert (folder / "refs/main").read_text() == commit
    return snapshot


GPT2 = [
    "config.json",
    "model.safetensors",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
]


def what_is_needed_is_fetched_once():
    with Hub(
        {
            "tiny/gpt2": files_of("gpt2"),
            "tiny/marian": files_of("marian"),
            "tiny/sharded": files_of("gpt2_sharded"),
        }
    ) as hub:
        home = fresh("whole")
        path = run(hub, home, "fetch tiny/gpt2").stdout.strip()
        snapshot = check_cache(hub, home, "tiny/gpt2", GPT2)
        assert Path(path) == snapshot and not hub.asked("README") and not hub.asked("pytorch_model")
        count = len(hub.requests)
        again = fetched(hub, home, "tiny/gpt2")
        assert again["received"] == 0
        assert len(hub.requests) == count + 1, "only the list is asked for again"
        assert {f["name"] for f in again["files"]} == set(GPT2)
        assert again["commit"] == hub.commit("tiny/gpt2")
        assert (
            run(hub, home, "heads --model tiny/gpt2 --ids 1,2,3").stdout
            == run(hub, home, "heads --ids 1,2,3 --model MODELS/gpt2").stdout
        )
        listed = {
            m["name"]: m for m in json.loads(run(hub, home, "models --json").stdout)["models"]
        }
        assert listed["tiny/gpt2"]["readable"] and listed["tiny/gpt2"]["path"] == path
        fetched(hub, home, "tiny/marian")
        check_cache(
            hub,
            home,
            "tiny/marian",
            [
                "config.json",
                "model.safetensors",
                "source.spm",
                "target.spm",
                "tokenizer_config.json",
                "vocab.json",
            ],
        )
        names = [f["name"] for f in fetched(hub, home, "tiny/sharded")["files"]]
        assert sum(n.startswith("model-0000") for n in names) >= 2
        assert "model.safetensors.index.json" in names
        run(hub, home, "heads --model tiny/sharded --ids 1,2,3")


def names_revisions_and_addresses():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        hub.renamed["gpt2"] = "tiny/gpt2"
        commit = hub.commit("tiny/gpt2")
        for words in (
            ["tiny/gpt2", "--revision", commit],
            ["tiny/gpt2@refs/pr/1"],
            [f"{hub.endpoint}/tiny/gpt2/tree/main?x=1"],
            ["gpt2"],
        ):
            assert fetched(hub, fresh("names"), *words)["commit"] == commit, words
        home = fresh("names")
        fetched(hub, home, "tiny/gpt2", "--revision", "refs/pr/1")
        assert (folder_of(home, "tiny/gpt2") / "refs/refs/pr/1").read_text() == commit
        run(hub, home, "info --model tiny/gpt2@refs/pr/1")
        for bad in ("", "a b", "../x", "a/b/c", "owner/", "a/..", "x" * 300):
            run(hub, home, "fetch", bad, status=1)
        for bad in ("../main", "a b", "/x", "a//b"):
            assert (
                "revision" in run(hub, home, "fetch tiny/gpt2", "--revision", bad, status=1).stderr
            )
        assert "name and the revision" in run(hub, home, "fetch tiny/gpt2@other", status=1).stderr
        rows = json.loads(run(hub, home, "fetch --list --json").stdout)["models"]
        assert len(rows) == 6
        assert all(r["bytes"] > 5e7 and "/" in r["name"] for r in rows)
        assert len(run(hub, home, "fetch --list").stdout.splitlines()) == 6


def a_gguf_file_is_chosen_by_a_part_of_its_name():
    held = {f.name: f.read_bytes() for f in sorted((MODELS / "llama_gguf").glob("*.gguf"))}
    assert len(held) > 1
    name = next(iter(held))
    with Hub(
        {
            "tiny/GGUF": held | USELESS,
            "tiny/one": {name: held[name]},
            "tiny/none": USELESS,
            "tiny/gpt2": files_of("gpt2"),
        }
    ) as hub:
        home = fresh("gguf")
        said = run(hub, home, "fetch tiny/GGUF", status=1).stderr
        assert "--gguf" in said and name in said, said
        assert "nonsense" in run(hub, home, "fetch tiny/GGUF --gguf nonsense", status=1).stderr
        found = fetched(hub, home, "tiny/GGUF", "--gguf", name.upper().removesuffix(".GGUF"))
        assert [f["name"] for f in found["files"]] == [name] and found["path"].endswith(name)
        assert Path(fetched(hub, home, "tiny/one")["path"]).read_bytes() == held[name]
        run(hub, home, "heads --model tiny/one --ids 1,2,3")
        assert "pickle" in run(hub, home, "fetch tiny/none", status=1).stderr
        assert "no GGUF" in run(hub, home, "fetch tiny/gpt2 --gguf Q4", status=1).stderr


def a_gguf_model_in_parts_is_one_model():
    whole = MODELS / "llama_gguf/llama-q8_0.gguf"
    parts = gguf_parts.split(whole.read_bytes(), 3)
    with Hub({"tiny/parts": parts | USELESS}) as hub:
        home = fresh("parts")
        found = fetched(hub, home, "tiny/parts")
        assert [f["name"] for f in found["files"]] == list(parts)
        expected = run(hub, home, "heads --ids 1,2,3", "--model", whole).stdout
        for model in ("tiny/parts", *(Path(found["path"]).with_name(name) for name in parts)):
            assert run(hub, home, "heads --ids 1,2,3", "--model", model).stdout == expected
        listed = [
            m
            for m in json.loads(run(hub, home, "models --json").stdout)["models"]
            if m["place"] == "Hugging Face cache"
        ]
        assert [m["name"] for m in listed] == ["m"], listed
        assert listed[0]["readable"], listed
        assert listed[0]["bytes"] == sum(map(len, parts.values())), listed
        (Path(found["path"]).with_name(list(parts)[1])).unlink()
        assert list(parts)[1] in run(hub, home, "info", "--model", found["path"], status=1).stderr


def a_token_is_shown_to_the_hub_alone():
    with Hub({"secret/gpt2": files_of("gpt2")}) as hub:
        hub.tokens["secret/gpt2"] = "hf_right"
        home = fresh("token")
        assert "HF_TOKEN" in run(hub, home, "fetch secret/gpt2", status=1).stderr
        assert (
            "accept its terms"
            in run(hub, home, "fetch secret/gpt2", status=1, HF_TOKEN="hf_wrong").stderr
        )
        fetched(hub, home, "secret/gpt2", HF_TOKEN=" hf_right\n")
        asked = [
            (where, "Authorization" in headers)
            for where, _, path, headers in hub.requests
            if "model.safetensors" in path
        ]
        assert asked == [("_of_hub", True), ("_of_cdn", False)], asked
        home = fresh("token")
        home.mkdir()
        (home / "token").write_text("hf_right\n")
        fetched(hub, home, "secret/gpt2")
        run(
            hub,
            fresh("none"),
            "fetch secret/gpt2",
            status=1,
            HF_TOKEN_PATH=str(home / "token"),
            HF_HUB_DISABLE_IMPLICIT_TOKEN="1",
        )
        fetched(hub, fresh("none"), "secret/gpt2", HF_TOKEN_PATH=str(home / "token"))
        assert (
            "characters"
            in run(hub, fresh("none"), "fetch secret/gpt2", status=1, HF_TOKEN="hf_a\tb").stderr
        )
        assert (
            "hf_right"
            not in run(
                hub, fresh("none"), "fetch secret/other", status=1, HF_TOKEN="hf_right"
            ).stderr
        )


def the_environment_is_read_as_huggingface_hub_reads_it():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        home, cache = fresh("place"), FOLDER / "a cache"
        fetched(hub, home, "tiny/gpt2", HF_HUB_CACHE="$WHERE/inside", WHERE=str(cache))
        assert (cache / "inside/models--tiny--gpt2/refs/main").exists() and not home.exists()
        run(hub, home, "info --model tiny/gpt2", HF_HUB_CACHE="${WHERE}/inside", WHERE=str(cache))
        fetched(hub, "", "tiny/gpt2", HOME=str(FOLDER / "person"))
        assert (FOLDER / "person/.cache/huggingface/hub/models--tiny--gpt2").exists()
        fetched(hub, "~/hf", "tiny/gpt2", HOME=str(FOLDER / "person"))
        assert (FOLDER / "person/hf/hub/models--tiny--gpt2").exists()
        assert (
            "HF_HUB_OFFLINE"
            in run(hub, home, "fetch tiny/gpt2", status=1, HF_HUB_OFFLINE="yes").stderr
        )
        assert "HF_ENDPOINT" in run("ftp://x", home, "fetch tiny/gpt2", status=1).stderr
        fetched(
            "http://hub.invalid",
            fresh("proxy"),
            "tiny/gpt2",
            http_proxy=hub.endpoint,
            no_proxy="127.0.0.1",
        )
        count = len(hub.requests)
        assert (
            "does not answer"
            in run(
                "http://hub.invalid",
                home,
                "fetch tiny/gpt2",
                status=1,
                http_proxy="http://127.0.0.1:9",
            ).stderr
        )
        assert len(hub.requests) == count


def refusals_are_sentences():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        home = fresh("refused")
        listing = "/api/models/tiny/gpt2/revision/main"
        assert "no model of that name" in run(hub, home, "fetch tiny/other", status=1).stderr
        for status, word in (
            (403, "gated"),
            (404, "no tiny/gpt2"),
            (429, "fewer"),
            (500, "500"),
            (503, "503"),
        ):
            hub.status[listing] = status
            assert word in run(hub, home, "fetch tiny/gpt2", status=1).stderr, status
        hub.status = {}
        hub.renamed["tiny/gpt2"] = "tiny/gpt2"
        assert "without an end" in run(hub, home, "fetch tiny/gpt2", status=1).stderr
        hub.renamed = {}
        for body in (
            b"",
            b"[]",
            b"<html>",
            b"{}",
            b'{"sha": 5}',
            b'{"sha": "' + b"a" * 40 + b'"}',
            b"[" * 100_000,
            b'{"sha": "' + b"a" * 40 + b'", "siblings": [5]}',
        ):
            hub.listing = body
            run(hub, home, "fetch tiny/gpt2", status=1)
        hub.listing = b" " * (33 << 20)
        assert "more than" in run(hub, home, "fetch tiny/gpt2", status=1).stderr
        hub.listing = None
        for file, said in (
            ("model.safetensors", {"lfs": {"sha256": "x" * 64, "size": 5}}),
            ("model.safetensors", {"lfs": {"sha256": "a" * 64, "size": -5}}),
            ("model.safetensors", {"lfs": {"sha256": "a" * 64, "size": 1 << 62}}),
            ("model.safetensors", {"lfs": {"sha256": "a" * 64, "size": 1 << 40}}),
            ("config.json", {"size": 1.5}),
            ("config.json", {"size": "large"}),
            ("config.json", {"blobId": "../../../etc"}),
            ("README.md", {"rfilename": "../../evil"}),
            ("README.md", {"rfilename": "/etc/evil"}),
            ("README.md", {"rfilename": "a/../../b"}),
            ("README.md", {"rfilename": 5}),
            ("README.md", {"rfilename": "a\nb"}),
        ):
            hub.said = {file: said}
            run(hub, home, "fetch tiny/gpt2", status=1)
        assert not (home / "hub").exists() or not list((home / "hub").rglob("blobs/*")), (
            "nothing was written"
        )
        hub.said, hub.has_blobs = {}, False  # a mirror that says no sizes: each file is asked for
        fetched(hub, home, "tiny/gpt2")
        check_cache(hub, home, "tiny/gpt2", GPT2)
        assert len(hub.asked("/resolve/", "HEAD")) == len(GPT2)
