"""fetch: what the hub's own converter made of a pickle, from its pull requests."""

import json
from pathlib import Path

from fetching import fetched, files_of, folder_of, fresh, run
from hub_server import Hub, pull


def of_a_pickle_the_safetensors_that_the_hub_made_are_taken():
    whole = files_of("marian")
    pickled = {name: data for name, data in whole.items() if name != "model.safetensors"}
    newer = whole | {"pytorch_model.bin": b"another pickle"}
    offers = [
        pull(1, whole, author="somebody"),
        pull(2, newer),
        pull(3, whole, status="merged"),
        pull(4, pickled),
        pull(6, whole, is_pull=False),
        pull(7, whole, title="Add more"),
        pull(8, whole, status="closed"),
        pull(9, whole),
    ]
    with Hub({"tiny/marian": pickled, "tiny/gpt2": files_of("gpt2")}) as hub:
        hub.pulls = {"tiny/marian": offers, "tiny/gpt2": [pull(1, {})]}
        home = fresh("converted")
        folder, commit = folder_of(home, "tiny/marian"), hub.commit("tiny/marian", whole)
        (folder / "refs").mkdir(parents=True)
        # As Python leaves it that has opened the tokenizer.
        (folder / "refs/main").write_text(hub.commit("tiny/marian"))
        (folder / "snapshots" / hub.commit("tiny/marian")).mkdir(parents=True)
        (folder / "snapshots" / hub.commit("tiny/marian") / "config.json").write_bytes(
            whole["config.json"]
        )
        done = run(hub, home, "fetch tiny/marian")
        snapshot = folder / "snapshots" / commit
        assert Path(done.stdout.strip()) == snapshot
        assert (folder / "refs/refs/pr/9").read_text() == commit
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "refs/pr/9" in done.stderr, done.stderr
        assert "pickle" in done.stderr, done.stderr
        assert (snapshot / "model.safetensors").read_bytes() == whole["model.safetensors"]
        assert not (snapshot / "pytorch_model.bin").exists()
        again = fetched(hub, home, "tiny/marian", "--quiet")
        assert again["received"] == 0
        assert (again["revision"], again["commit"]) == ("refs/pr/9", commit)
        for name in ("tiny/marian", "tiny/marian@refs/pr/9"):
            assert json.loads(run(hub, home, "info --json", "--model", name).stdout) == json.loads(
                run(hub, home, "info --json", "--model", snapshot).stdout
            ), name
        hub.pulls["tiny/marian"] = offers[:-1]
        assert fetched(hub, fresh("converted"), "tiny/marian")["revision"] == "refs/pr/8", (
            "one that was closed holds the same"
        )
        for pulls, said in (
            (offers[:-2], None),
            ([], None),
            (offers, b"<html>"),
            (offers, b'{"discussions": 5}'),
            (offers, b'{"discussions": [5]}'),
            (offers, b'{"discussions": [{"num": -1}]}'),
        ):
            hub.pulls["tiny/marian"], hub.said_of_pulls = pulls, said
            assert "pickle" in run(hub, fresh("converted"), "fetch tiny/marian", status=1).stderr
        hub.status["/api/models/tiny/marian/discussions"] = 404  # a mirror without discussions
        assert "pickle" in run(hub, fresh("converted"), "fetch tiny/marian", status=1).stderr
        before = len(hub.asked("discussions"))
        assert "no GGUF" in run(hub, home, "fetch tiny/marian --gguf Q4", status=1).stderr
        assert (
            "pickle"
            in run(
                hub, home, "fetch tiny/marian", "--revision", hub.commit("tiny/marian"), status=1
            ).stderr
        )
        fetched(hub, home, "tiny/gpt2")
        assert len(hub.asked("discussions")) == before, "nothing is asked that is not needed"
