"""Corpora in shares: whoever computes them and whoever dies, the sums are those of one run over all
texts, to the last bit."""

import json
import os
import subprocess
import tempfile
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import headlight
import numpy as np
from given_arrays import sentence_of, skipped
from headlight.over_texts import exact
from surroundings import python

NAMES = ("Lily", "Tom", "Mia", "Ben")
TEXTS = [
    f"{a} had a {ball}. {b} had a blue car.\n{a} gave {b} the {ball}"
    for a in NAMES
    for b in NAMES
    for ball in ("red ball", "cake")
    if a != b
][:17]
# Equal weights stand at two places.
TEXTS += [
    "",
    "Once upon a time there were 3 unbelievable dogs.",
    TEXTS[1],
    "",
    TEXTS[0],
    "The cat sat on the mat. The cat",
]
SHARES = 8  # of three texts
DIES_ONCE = """#!/bin/sh
# The program; who calls it first does not live to hear of it.
n=1
while ! mkdir "{folder}/run $n" 2>/dev/null; do n=$((n + 1)); done
[ $n -gt 1 ] || {{ kill -9 $PPID; exit 1; }}
exec "{program}" "$@"
"""
DASK = """import json, os, sys, headlight
from dask.distributed import Client, LocalCluster
if __name__ == "__main__":
    workers = dict(n_workers=3, threads_per_worker=1, processes=True)
    quiet = dict(dashboard_address=None, silence_logs=50)
    with LocalCluster(**workers, **quiet) as cluster, Client(cluster) as client:
        texts = json.loads(os.environ["TEXTS"])
        found = headlight.corpus(texts, model="stories", client=client, share=3)
    json.dump(found.said, open(os.environ["FOUND"], "w"))
"""
POOL = """import json, os, headlight
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(3) as pool:
    found = headlight.corpus(json.loads(os.environ["TEXTS"]), model="stories", client=pool, share=3)
json.dump(found.said, open(os.environ["FOUND"], "w"))
"""


def whole(options=()):
    """One run of the program over all texts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "all texts.jsonl"
        file.write_text("".join(json.dumps(text) + "\n" for text in TEXTS))
        done = subprocess.run(
            [
                os.environ["HEADLIGHT_PROGRAM"],
                "heads",
                "--model",
                "stories",
                "--corpus",
                file,
                "--json",
                *options,
            ],
            capture_output=True,
        )
        return json.loads(done.stdout)


def same_bits(found, expected):
    assert found == expected, [
        (name, a["head"])
        for a, b in zip(found["heads"], expected["heads"])
        for name in a
        if a[name] != b[name]
    ][:5]


def shares_add_up_to_one_run():
    expected = whole(("--threads", "2"))
    for share, client in (
        (1000, None),
        (4, None),
        (1, ThreadPoolExecutor(3)),
        (2, lambda: ThreadPoolExecutor(2)),
    ):
        found = headlight.corpus(iter(TEXTS), model="stories", share=share, client=client)
        same_bits(found.said, expected)
    with tempfile.TemporaryDirectory() as folder:
        lines, objects = Path(folder) / "texts.txt", Path(folder) / "texts.jsonl"
        flat = [text.replace("\n", " ") for text in TEXTS]
        lines.write_text("\r\n".join(flat) + " \n")
        objects.write_text("\n".join(json.dumps({"text": text}) for text in flat))
        assert (
            headlight.corpus(lines, share=4).said
            == headlight.corpus(str(objects), share=5).said
            == headlight.corpus(flat).said
        )


def a_corpus_is_arrays_and_pairs():
    expected = whole(("--strongest", "3", "--mask", "window:4"))
    found = headlight.corpus(TEXTS, model="stories", strongest=3, share=5, mask="window:4")
    same_bits(found.said, expected)
    assert found["induction"].shape == found["entropy_sd"].shape == (4, 8)
    assert found["entropy"].dtype == np.float32
    assert found["entropy"][1, 2] == np.float32(
        expected["heads"][10]["statistics"]["entropy"]["mean"]
    )
    assert found.texts == len(TEXTS) - 2
    assert found.strongest((1, 2)) == found.strongest("1.2") == expected["heads"][10]["strongest"]
    assert len(found.strongest("1.2")) == 3
    assert all(
        TEXTS[pair["line"] - 1].startswith(pair["text"][:8])
        for head in expected["heads"]
        for pair in head["strongest"]
    )
    links = found.links((1, 2))
    assert links.shape == (6, 6)
    assert np.allclose(np.nan_to_num(links).sum(1)[~np.isnan(links[:, 0])], 1, atol=1e-4)
    assert found.token_kinds[0] == "first"
    some = headlight.corpus(
        TEXTS, model="stories", strongest=3, share=5, mask="window:4", heads=[(1, 2), "3.0"]
    )
    assert some.said["heads"] == [expected["heads"][10], expected["heads"][24]]
    assert "2 heads" in repr(some)
    assert headlight.corpus(TEXTS[:2], model="stories", heads=(1, 2)).strongest((1, 2))
    assert len(headlight.corpus(TEXTS[:2], model="stories", heads=((1, 2), (0, 0))).rows) == 2
    assert "9.9" in sentence_of(lambda: found.links((9, 9)))


def sums_are_exact_in_any_order():
    numbers = np.random.default_rng(5).normal(size=400) * 10.0 ** np.random.default_rng(6).integers(
        -40, 40, 400
    )
    parts = [
        exact(part)
        for part in (numbers[:7].tolist(), numbers[7:300].tolist(), numbers[300:].tolist())
    ]
    assert (
        exact(parts[2] + exact(parts[1] + parts[0]))
        == exact(exact(parts[0] + parts[2]) + parts[1])
        == exact(numbers.tolist())
    )
    assert exact([0.1, -0.1]) == [] and exact([1e100, 1.0, -1e100]) == [1.0]


def with_one_killed(code):
    """The result, and how often the program ran."""
    with tempfile.TemporaryDirectory() as folder:
        program, found = Path(folder) / "headlight", Path(folder) / "found.json"
        program.write_text(DIES_ONCE.format(folder=folder, program=os.environ["HEADLIGHT_PROGRAM"]))
        program.chmod(0o755)
        said, status = python(
            code, HEADLIGHT_PROGRAM=str(program), TEXTS=json.dumps(TEXTS), FOUND=str(found)
        )
        assert status == 0, said
        return json.loads(found.read_text()), len(list(Path(folder).glob("run *")))


def a_process_that_dies_costs_what_ran_beside_it_at_most():
    found, runs = with_one_killed(POOL)
    same_bits(found, whole())
    # The standard library ends all workers of a pool when one dies, and has one share waiting.
    assert SHARES < runs <= SHARES + 4, runs


def a_worker_of_dask_that_dies_costs_its_share():
    try:
        import distributed  # noqa: F401
    except ImportError:
        skipped("dask.distributed is not installed here: only executors computed the shares")
        return
    found, runs = with_one_killed(DASK)
    same_bits(found, whole())
    assert runs == SHARES + 1, runs


class Losing(Executor):
    """Loses every second share."""

    count = 0

    def submit(self, task, *given):
        self.count += 1
        future = Future()
        if self.count % 2:
            future.set_exception(ConnectionError("gone"))
        else:
            future.set_result(task(*given))
        return future


class Lost(Executor):
    def submit(self, task, *given):
        future = Future()
        future.set_exception(ConnectionError("gone") if len(given[1]) > 1 else MemoryError())
        return future


def what_is_no_corpus_is_said():
    same_bits(headlight.corpus(TEXTS, model="stories", client=Losing(), share=9).said, whole())
    for call, why in (
        (lambda: headlight.corpus(["a", 3]), "Text 2"),
        (lambda: headlight.corpus(7), "int"),
        (lambda: headlight.corpus("no such file.txt"), "no such file"),
        (lambda: headlight.corpus(["", ""]), "no text"),
        (lambda: headlight.corpus(["a"], model=object()), "folder"),
        (lambda: headlight.corpus(["a"], client=3), "int"),
        (lambda: headlight.corpus(["a"], share=0), "share"),
        (lambda: headlight.corpus(["a"], model="/nowhere/model"), "/nowhere/model"),
        (lambda: headlight.corpus(["a"], model="stories", heads=["9.1"]), "9.1"),
        (lambda: headlight.corpus(["a"], heads=[]), "heads"),
        (
            lambda: headlight.corpus(["a", "b", "c" * 2000000], model="stories", share=2),
            "Line 3 of the texts",
        ),
        (lambda: headlight.corpus(["a", "b"], client=Lost()), "Lines 1 to 2"),
        (lambda: headlight.corpus(["a"], client=Lost()), "MemoryError"),
        (lambda: headlight.corpus(["a"], model="stories", nonsense=3), "nonsense"),
    ):
        assert why in sentence_of(call), sentence_of(call)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "numbers.jsonl"
        file.write_text('"one"\n{"words": 2}\n')
        assert "Line 2" in sentence_of(lambda: headlight.corpus(file))
    broken = ProcessPoolExecutor(1)
    broken._broken = "by a test"
    same_bits(headlight.corpus(TEXTS, model="stories", client=broken, share=30).said, whole())
