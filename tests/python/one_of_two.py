"""One of the processes that hold a model together: one_of_two.py MODEL FOLDER, started by torchrun.
Says how much memory it took; in the middle of its last pass the first of them dies."""

import json
import os
import resource
import signal
import sys
import warnings
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parents[2] / "models/python"),
    str(Path(__file__).resolve().parents[2] / "models"),
]
import headlight
import torch
from capture_trace import over_processes
from transformers import AutoModel

MODEL, FOLDER = sys.argv[1], Path(sys.argv[2])
IDS = torch.tensor([[5, 9, 200, 31, 5, 9, 77, 12]])


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    torch.set_num_threads(1)
    warnings.filterwarnings("error", "(?s).*deprecated", category=FutureWarning)
    model = AutoModel.from_pretrained(MODEL, **over_processes("auto")).eval()
    rank = torch.distributed.get_rank()
    assert (
        model.layers[0].self_attn.q_proj.weight.to_local().shape[0] * 2
        == model.layers[0].self_attn.q_proj.weight.shape[0]
    ), "half of the heads are here"
    trace = headlight.trace(model, ids=IDS, path=FOLDER / "qk.safetensors", name="tiny")
    assert trace["pattern", 0].shape[0] == model.config.num_attention_heads
    padded = {"input_ids": IDS, "attention_mask": torch.tensor([[1] * 6 + [0] * 2])}
    headlight.trace(model, inputs=padded, path=FOLDER / "patterns.safetensors", name="tiny")
    said = []
    for more in (
        {},
        {"path": FOLDER / "no folder" / "t.safetensors"},
        {"path": Path("/dev/full/t.safetensors")},
    ):
        try:
            headlight.trace(model, ids=IDS, **more)
        except headlight.HeadlightError as problem:
            said.append(str(problem))
    long = {
        "input_ids": torch.arange(1024)[None] % 300,
        "attention_mask": torch.tensor([[1] * 1023 + [0]]),
    }
    before = peak()
    headlight.trace(model, inputs=long, path=FOLDER / "long.safetensors")
    (FOLDER / f"said {rank}.json").write_text(
        json.dumps(
            {
                "said": said,
                "grown": peak() - before,
                "of": os.path.getsize(FOLDER / "long.safetensors") / 2**20,
            }
        )
    )
    if rank == 0:
        model.layers[1].register_forward_hook(lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    headlight.trace(model, ids=IDS, path=FOLDER / "died.safetensors")


main()
