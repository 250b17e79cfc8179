"""Models that are spread: over processes by transformers' tensor parallelism, over the disk by
accelerate. What is recorded is what one process records that has all of it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import headlight
import numpy as np
import transformers
from given_arrays import sentence_of, skipped
from given_models import IDS, SMALL, made, tensors
from headlight.parallel import GroupFile, check_divides, heads_here
from headlight.trace_writer import Heads, TensorFile, TraceWriter

BAR = 2e-5  # half of a sum in each process, and weights that make patterns far from uniform


@contextlib.contextmanager
def saved(heads=16):
    """A random model with 4 heads of keys, in memory and in a folder."""
    model = made(
        "Llama",
        num_key_value_heads=4,
        **{
            **SMALL,
            "num_attention_heads": heads,
            "hidden_size": 6 * heads,
            "max_position_embeddings": 1024,
        },
    )
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        yield model, Path(folder)


def two_processes_write_the_trace_of_one():
    with saved() as (model, folder):
        out = folder / "traces"
        out.mkdir()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        run = subprocess.run(
            [
                sys.executable,
                "-m",
                "torch.distributed.run",
                "--standalone",
                "--nproc-per-node=2",
                Path(__file__).with_name("one_of_two.py"),
                folder,
                out,
            ],
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert run.returncode, run.stderr[-3000:]
        # The first was killed at its end.
        assert all((out / f"said {rank}.json").exists() for rank in (0, 1)), run.stderr[-3000:]
        assert "deprecated" not in run.stderr
        assert parts_of(out) <= {"died.safetensors"}, (parts_of(out), run.stderr[-3000:])
        headlight.trace(model, ids=IDS, path=out / "died.safetensors")
        assert not parts_of(out), "the next one that writes it removes what is left"
        alone = headlight.trace(model, ids=IDS, name="tiny")
        spread = headlight.Trace(out / "qk.safetensors")
        same_file(
            alone, spread, exact=("input_ids", "blocks.0.attn.hook_q", "blocks.0.attn.hook_k")
        )
        assert spread.config["stacks"][0]["heads"] == 16
        assert spread.config["stacks"][0]["kv_heads"] == 4
        assert headlight.compare(spread, model_b=alone).distance.max() < 1e-5, (
            "the program opens it"
        )
        padded = {"input_ids": tensors(IDS), "attention_mask": tensors([1] * 6 + [0] * 2)}
        same_file(
            headlight.trace(model, inputs=padded, name="tiny"),
            headlight.Trace(out / "patterns.safetensors"),
            exact=("input_ids",),
        )
        for rank in (0, 1):
            held = json.loads((out / f"said {rank}.json").read_text())
            assert len(held["said"]) == 3, held
            assert "path=" in held["said"][0], held
            assert all("cannot be written" in said for said in held["said"][1:]), held
            assert held["grown"] < held["of"] / 2, held
            print(
                f"     process {rank} of 2: {held['grown']:.0f} MB more while {held['of']:.0f} "
                "MB of patterns were recorded"
            )


def parts_of(folder):
    """Names of the files that are being written there, or were left."""
    return {file.name.split(".part-")[0] for file in folder.iterdir() if ".part-" in file.name}


def same_file(alone, spread, exact):
    assert {name: tensor["shape"] for name, tensor in alone._tensors.items()} == {
        name: tensor["shape"] for name, tensor in spread._tensors.items()
    }
    assert alone.metadata == spread.metadata
    for name in alone:
        difference = float(np.abs(alone[name] - spread[name]).max())
        assert (
            difference == 0
            if name in exact
            else difference < BAR * max(1, float(np.abs(alone[name]).max()))
        ), (name, difference)


class Threads:
    """A group of threads of this process."""

    def __init__(self, size):
        self.meet, self.said = threading.Barrier(size, timeout=300), [None] * size

    def member(self, rank):
        def gather(value):
            self.said[rank] = value
            self.meet.wait()
            out = list(self.said)
            self.meet.wait()
            return out

        return type(
            "Member", (), {"rank": rank, "size": len(self.said), "gather": staticmethod(gather)}
        )()


def together(size, task):
    """The return value or message of each of `size` members."""
    group, out = Threads(size), [None] * size

    def run(rank):
        try:
            out[rank] = task(group.member(rank))
        except headlight.HeadlightError as problem:
            out[rank] = str(problem)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return out


def uneven_and_repeated_heads_come_to_their_places():
    patterns = np.tril(np.random.default_rng(1).random((5, 4, 4))).astype(np.float32)
    query, key = (
        np.random.default_rng(2).random((5, 4, 3)).astype(np.float32),
        np.random.default_rng(3).random((2, 4, 3)).astype(np.float32),
    )
    shares = ((0, 2), (2, 5))
    # a header that needs more room
    side = {"": {"tokens": list("abcd"), "labels": ["long label" * 500] * 4, "ids": [1, 2, 3, 4]}}
    with tempfile.TemporaryDirectory() as folder:

        def write(member):
            first, last = shares[member.rank]
            here = heads_here(member, last - first, 5)
            assert here == Heads(first, 5) and heads_here(member, 2, 2) == Heads(0, 2, whole=True)
            writer = TraceWriter(
                side, lambda room: GroupFile(Path(folder) / "t.safetensors", member, 8), blocks=0
            )
            writer.add_patterns(
                ("blocks", False, 0),
                (last - first, 4, 4),
                lambda h: (
                    patterns[first + h]
                    if member.rank
                    else patterns[h] + np.triu(np.full((4, 4), 1e-3), 1)
                ),
                here,
            )
            writer.add_queries_and_keys(
                ("blocks", False, 1),
                query[first:last],
                key,
                {"scale": 1.0, "cap": 0.0, "window": 0, "causal": True},
                here,
                heads_here(member, 2, 2),
            )
            writer.close("a", "b")

        assert together(2, write) == [None, None]
        assert [file.name for file in Path(folder).iterdir()] == ["t.safetensors"]
        trace = headlight.Trace(Path(folder) / "t.safetensors")
        assert np.array_equal(trace["blocks.0.attn.hook_pattern"][2:], patterns[2:])
        assert trace["blocks.0.attn.hook_pattern"][:2, 0, 1].min() > 0
        assert np.array_equal(trace["blocks.1.attn.hook_q"], query.swapaxes(0, 1))
        assert np.array_equal(trace["blocks.1.attn.hook_k"], key.swapaxes(0, 1))
        assert trace["input_ids"].tolist() == [1, 2, 3, 4]
        assert trace.config["stacks"][0]["causal"] is False, "one process saw a later key"


def what_goes_wrong_in_one_process_is_said_by_all():
    with tempfile.TemporaryDirectory() as folder:

        def write(member):
            writer = TraceWriter(
                {}, lambda room: GroupFile(Path(folder) / "t.safetensors", member, room)
            )
            writer.add_patterns(
                ("blocks", False, 0),
                (1, 2, 2),
                lambda h: np.full((2, 2), 3.0 if member.rank == 2 else 0.5),
                Heads(member.rank, 3),
            )
            try:
                writer.close("a", "b")
            finally:
                writer.drop()

        said = together(3, write)
        assert len(set(said)) == 1, said
        assert "outside 0 to 1" in said[0], said
        assert not list(Path(folder).iterdir()), said
        said = together(2, lambda member: heads_here(member, 3 - member.rank, 8))
        assert "3 + 2 heads of 8" in said[0] == said[1], said
        said = together(
            2, lambda member: GroupFile(Path(folder) / "none" / "t.safetensors", member, 8)
        )
        assert "cannot be written" in said[0] and said[0] == said[1], said
    two, config = (
        Threads(2).member(0),
        lambda heads, keys: transformers.LlamaConfig(
            num_attention_heads=heads, num_key_value_heads=keys, hidden_size=12
        ),
    )
    assert "share 6 and 3 heads" in sentence_of(lambda: check_divides(two, config(6, 3)))
    assert check_divides(two, config(4, 2)) is None is check_divides(None, config(6, 3))


# One of two processes without torch; it dies when it comes to its second head, where its rank is
# among those that do.
ONE_OF_PAIR = """
import json, os, signal, sys
from pathlib import Path
import numpy as np
from headlight.parallel import GroupFile
from headlight.trace_writer import Heads, TraceWriter
rank, dying, path = int(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3])
hears, tells = os.fdopen(int(sys.argv[4])), os.fdopen(int(sys.argv[5]), "w")

class Member:
    size = 2
    def gather(self, value):
        print(json.dumps(value), file=tells, flush=True)
        if not (said := hears.readline()):
            raise RuntimeError("Connection closed by peer")
        return [value, json.loads(said)][::-1 if rank else 1]

def head(h):
    if h == 1 and rank in dying:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.tril(np.ones((300, 300))) / np.arange(1, 301)[:, None]

Member.rank = rank
side = {"tokens": ["a"] * 300, "labels": ["a"] * 300, "ids": [1] * 300}
writer = TraceWriter({"": side}, lambda room: GroupFile(path, Member(), room))
try:
    writer.add_patterns(("blocks", False, 0), (2, 300, 300), head, Heads(2 * rank, 4))
    writer.close("pair", "arrays")
finally:
    writer.drop()
"""


def pair(path, dying):
    """How each of two processes that write a trace together ends."""
    (hears_0, tells_1), (hears_1, tells_0) = os.pipe(), os.pipe()
    environment = {**os.environ, "PYTHONPATH": str(Path(headlight.__file__).parents[1])}
    both = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                ONE_OF_PAIR,
                str(rank),
                json.dumps(dying),
                path,
                *map(str, ends),
            ],
            env=environment,
            pass_fds=ends,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, ends in enumerate(((hears_0, tells_0), (hears_1, tells_1)))
    ]
    for end in (hears_0, tells_0, hears_1, tells_1):
        os.close(end)
    said = [process.communicate(timeout=600)[1] for process in both]
    return [process.returncode for process in both], said


def a_process_that_is_killed_in_a_pass_leaves_nothing_for_long():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.safetensors"
        assert pair(path, []) == ([0, 0], ["", ""])
        assert headlight.Trace(path)["pattern", 0].shape == (4, 300, 300)
        path.unlink()
        for dying in (0, 1):
            status, said = pair(path, [dying])
            assert status[dying] == -signal.SIGKILL, (status, said)
            assert status[1 - dying] == 1, (status, said)
            assert any(why in said[1 - dying] for why in ("closed by peer", "Broken pipe")), (
                status,
                said,
            )
            assert not list(Path(folder).iterdir()), (
                f"what process {dying} left, the other one removes"
            )
        assert pair(path, [0, 1])[0] == [-signal.SIGKILL] * 2
        assert parts_of(Path(folder)) == {"t.safetensors"}, "no process was left to remove it"
        for name in (
            "t.safetensors.part-mine",
            "t.safetensors.part-0123456789",
            "other.safetensors.part-01234567",
        ):
            (Path(folder) / name).write_text("somebody's")
        writers = [TraceWriter({}, lambda room: TensorFile(path, room)) for _ in range(2)]
        assert len(list(Path(folder).iterdir())) == 5, (
            "the one that was left has gone, the first of those that live stays"
        )
        for writer in writers:
            writer.add_patterns(("blocks", False, 0), (1, 2, 2), lambda h: np.full((2, 2), 0.5))
            writer.close("a", "b")
        assert len(list(Path(folder).iterdir())) == 4
        assert headlight.Trace(path)["pattern", 0].shape == (1, 2, 2)


def weights_on_the_disk_are_recorded_where_accelerate_is_installed():
    try:
        from accelerate import disk_offload
    except ImportError:
        skipped("accelerate is not installed here: no model was spread over the disk")
        return
    with saved() as (model, folder):
        held = headlight.trace(model, ids=IDS, name="tiny")
        places = {
            "embed_tokens": "cpu",
            "layers.0": "cpu",
            "layers.1": "disk",
            "layers.2": "disk",
            "norm": "cpu",
            "rotary_emb": "cpu",
        }
        mapped = transformers.AutoModel.from_pretrained(
            folder, device_map=places, offload_folder=folder / "offloaded"
        ).eval()
        assert {p.device.type for p in mapped.parameters()} == {"cpu", "meta"}
        disk_offload(model, tempfile.mkdtemp())
        assert {p.device.type for p in model.parameters()} == {"meta"}
        for spread in (mapped, model):
            same_file(held, headlight.trace(spread, ids=IDS, name="tiny"), exact=list(held))
        shutil.rmtree(folder / "offloaded", ignore_errors=True)
