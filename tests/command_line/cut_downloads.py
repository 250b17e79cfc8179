"""fetch: downloads that are cut, stalled, damaged, stopped or run twice at once."""

import contextlib
import os
import signal
import subprocess
import time

from fetching import GPT2, NAMES, check_cache, fetched, files_of, folder_of, fresh, run
from hub_server import Hub, blob_hash
from program import PROGRAM


def a_cut_connection_goes_on_where_it_was():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        home, size = fresh("cut"), len(hub.repositories["tiny/gpt2"]["model.safetensors"])
        hub.cut, hub.cuts = (
            {"model.safetensors": 100_000, "tokenizer.json": 5_000},
            {"model.safetensors": 3, "tokenizer.json": 1},
        )
        found = fetched(hub, home, "tiny/gpt2")
        check_cache(hub, home, "tiny/gpt2", GPT2)
        assert found["received"] == sum(f["bytes"] for f in found["files"]), "no byte came twice"
        ranges = [
            headers["Range"]
            for _, _, path, headers in hub.requests
            if "model.safetensors" in path and "Range" in headers
        ]
        assert {"bytes=100000-", "bytes=200000-", "bytes=300000-"} == set(ranges), ranges
        home, hub.cuts = fresh("cut"), {"model.safetensors": 3, "tokenizer.json": 0}
        hub.ranges = False  # a server that always begins at the beginning
        hub.cut["model.safetensors"] = size - 10
        fetched(hub, home, "tiny/gpt2")
        check_cache(hub, home, "tiny/gpt2", GPT2)
        home, hub.ranges, hub.cut, hub.cuts = (
            fresh("cut"),
            True,
            {"model.safetensors": 50_000},
            {"model.safetensors": 1},
        )
        hub.cut["config.json"], hub.cuts["config.json"] = 0, 99
        assert "cut" in run(hub, home, "fetch tiny/gpt2", status=1).stderr
        assert (
            run("http://127.0.0.1:9", home, "fetch tiny/gpt2", status=1).stderr.count("127.0.0.1:9")
            == 1
        )


def a_hub_that_hands_out_some_bytes_at_a_time_is_given_up():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        hub.cut, hub.cuts = {"model.safetensors": 20}, {"model.safetensors": 10**6}
        assert (
            "cut while model.safetensors"
            in run(hub, fresh("drips"), "fetch tiny/gpt2", status=1).stderr
        )
        assert len([path for where, _, path, _ in hub.requests if where == "_of_cdn"]) < 9


def a_file_that_is_shorter_than_it_is_listed_is_said():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        hub.altered = {"tokenizer.json": hub.repositories["tiny/gpt2"]["tokenizer.json"][:900]}
        said = run(hub, fresh("short"), "fetch tiny/gpt2", status=1).stderr
        assert "tokenizer.json" in said, said
        assert "byte 900 of the" in said, said
        assert "another mirror" in said, said


def what_came_is_checked():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        data = hub.repositories["tiny/gpt2"]["model.safetensors"]
        for name, word in (("model.safetensors", "SHA-256"), ("config.json", "git hash")):
            home, right = fresh("wrong"), hub.repositories["tiny/gpt2"][name]
            hub.altered = {name: right[:-1] + bytes([right[-1] ^ 1])}
            assert word in run(hub, home, "fetch tiny/gpt2", status=1).stderr
            folder = folder_of(home, "tiny/gpt2")
            assert not any(right[:-1] == f.read_bytes()[:-1] for f in (folder / "blobs").iterdir())
            assert not (folder / "refs").exists()
            hub.altered = {}
            fetched(hub, home, "tiny/gpt2")
            check_cache(hub, home, "tiny/gpt2", GPT2)
        home = fresh("part")
        part = (
            folder_of(home, "tiny/gpt2")
            / "blobs"
            / (blob_hash("model.safetensors", data) + ".incomplete")
        )
        part.parent.mkdir(parents=True)
        # Of another program that left nonsense: it is fetched once more as a whole.
        part.write_bytes(b"\1" * 1000)
        fetched(hub, home, "tiny/gpt2")
        check_cache(hub, home, "tiny/gpt2", GPT2)
        home, hub.more = fresh("more"), {"model.safetensors": b"x" * 1000}
        assert "more than" in run(hub, home, "fetch tiny/gpt2", status=1).stderr
        assert not (
            folder_of(home, "tiny/gpt2") / "blobs" / blob_hash("model.safetensors", data)
        ).exists()


def a_full_disk_is_said_and_what_came_is_kept():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        home = fresh("full")
        assert (
            "cannot be written" in run(hub, home, "fetch tiny/gpt2", status=1, limit=200_000).stderr
        )
        found = fetched(hub, home, "tiny/gpt2")
        check_cache(hub, home, "tiny/gpt2", GPT2)
        assert found["received"] < sum(f["bytes"] for f in found["files"]) - 150_000, found[
            "received"
        ]
        assert "/dev/null" in run(hub, "/dev/null/x", "fetch tiny/gpt2", status=1).stderr


def bytes_held(home):
    """The bytes of a cache's files; one may get its last name meanwhile."""
    held = 0
    for file in home.rglob("blobs/*"):
        with contextlib.suppress(FileNotFoundError):
            held += file.stat().st_size
    return held


def stopping_keeps_what_came():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        home = fresh("stopped")
        for signal_sent, status in (
            (signal.SIGINT, 1),
            (signal.SIGTERM, 1),
            (signal.SIGKILL, -signal.SIGKILL),
        ):
            hub.slow = 0.05
            before = sum(f.stat().st_size for f in home.rglob("blobs/*")) if home.exists() else 0
            environment = {k: v for k, v in os.environ.items() if k not in NAMES} | {
                "HF_HOME": str(home),
                "HF_ENDPOINT": hub.endpoint,
            }
            process = subprocess.Popen(
                [PROGRAM, "fetch", "tiny/gpt2"],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            end = time.time() + 30
            while time.time() < end and bytes_held(home) < before + 60_000:
                time.sleep(0.02)
            process.send_signal(signal_sent)
            said = process.communicate(timeout=30)[1]
            assert process.returncode == status
            assert status < 0 or "kept" in said, (process.returncode, said)
        hub.slow = 0
        found = fetched(hub, home, "tiny/gpt2")
        check_cache(hub, home, "tiny/gpt2", GPT2)
        assert found["received"] < sum(f["bytes"] for f in found["files"]) - 100_000


def two_at_once_fetch_one_file_once():
    with Hub({"tiny/gpt2": files_of("gpt2")}) as hub:
        home, hub.slow = fresh("both"), 0.01
        environment = {k: v for k, v in os.environ.items() if k not in NAMES} | {
            "HF_HOME": str(home),
            "HF_ENDPOINT": hub.endpoint,
        }
        both = [
            subprocess.Popen(
                [PROGRAM, "fetch", "tiny/gpt2"], env=environment, stdout=subprocess.DEVNULL
            )
            for _ in range(2)
        ]
        assert [p.wait(60) for p in both] == [0, 0]
        check_cache(hub, home, "tiny/gpt2", GPT2)
        assert len([1 for where, _, path, _ in hub.requests if where == "_of_cdn"]) == 1
