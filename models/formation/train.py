#!/usr/bin/env python3
"""Train a two-layer GPT-NeoX in which an induction head forms by itself, and keep twelve of its
checkpoints.

    python models/formation/train.py --data DIR --work FOLDER --out models/formation --minutes 5

DIR holds stories_train.txt and stories_valid.txt, stories separated by a line "<|endoftext|>".
FOLDER keeps the state of the run: started again with the same FOLDER, it goes on where it was. The
weights start at random, all alike; the loss is the next token's and nothing else. README.md beside
this file says what a run reached.

Needs torch, transformers, tokenizers and safetensors.
"""

import argparse
import json
import math
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from round_weights import round_weights
from training import fast_arithmetic, make_optimizers, read_stories, train_tokenizer

LAYERS, HEADS, WIDTH, HIDDEN, CONTEXT, VOCAB = 2, 4, 128, 256, 128, 1024
CHECKPOINTS = 12
MEASURED = (
    50  # steps from one measurement to the next; each keeps its weights until twelve are chosen
)


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--work", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument(
        "--minutes",
        type=float,
        default=5,
        help="processor minutes, all threads together, of the whole run",
    )
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument(
        "--repeated", type=float, default=0.6, help="share of rows in which a segment comes again"
    )
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


class Rows:
    """Rows of CONTEXT + 1 ids: a piece of a story, or a segment that comes again and again."""

    def __init__(self, tok, texts, seed):
        self.ids = np.array([i for e in tok.encode_batch(texts) for i in [0, *e.ids]])
        self.rng, self.vocab = np.random.default_rng(seed), tok.get_vocab_size()

    def piece(self, length):
        p = self.rng.integers(0, len(self.ids) - length)
        return self.ids[p : p + length]

    def repeated(self):
        """Random tokens, or tokens of a story in disorder, or a story's words: again and again with
        random gaps."""
        rng, row = self.rng, []
        length, kind = int(rng.integers(4, 50)), rng.random()
        segment = rng.integers(1, self.vocab, length) if kind < 1 / 3 else self.piece(length)
        if 1 / 3 <= kind < 2 / 3:
            segment = rng.permutation(segment)
        while len(row) < CONTEXT + 1:
            row += segment.tolist() + rng.integers(1, self.vocab, rng.integers(0, 6)).tolist()
        return np.array(row[: CONTEXT + 1])

    def batch(self, size, share_repeated):
        again = round(size * share_repeated)
        rows = [self.repeated() if i < again else self.piece(CONTEXT + 1) for i in range(size)]
        return torch.from_numpy(np.stack(rows).astype(np.int64))


def make_model():
    """As transformers starts it: no head, no position and no row of the table is given anything of
    ours."""
    return GPTNeoXForCausalLM(
        GPTNeoXConfig(
            vocab_size=VOCAB,
            max_position_embeddings=CONTEXT,
            hidden_size=WIDTH,
            intermediate_size=HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            rotary_pct=0.5,
            use_parallel_residual=False,
            hidden_dropout=0.0,
            attention_dropout=0.0,
            bos_token_id=0,
            eos_token_id=0,
            pad_token_id=0,
            tie_word_embeddings=True,
        )
    )


def loss_of(model, x):
    with fast_arithmetic():
        logits = F.linear(
            model.gpt_neox(x[:, :-1], use_cache=False).last_hidden_state,
            model.get_output_embeddings().weight,
        )
    return F.cross_entropy(logits.float().flatten(0, 1), x[:, 1:].flatten())


@torch.no_grad()
def measure(model, valid):
    """Loss on held-out stories; of each head the mean weight on the token before (stories) and, in
    48 random tokens said twice, on the token after the earlier copy; the loss on both halves
    (core/analysis/attention/head_stats.cpp, Olsson et al. 2022)."""
    model.eval()
    model.set_attn_implementation("eager")
    attention = torch.stack(
        [a.mean(0) for a in model(valid[:16, :-1], output_attentions=True).attentions]
    )
    half = np.random.default_rng(7).integers(1, VOCAB, (16, 48))
    x = torch.from_numpy(np.concatenate([half, half], 1))
    out = model(x, output_attentions=True)
    twice = torch.stack([a.mean(0) for a in out.attentions])
    loss = F.cross_entropy(
        out.logits[:, :-1].flatten(0, 1), x[:, 1:].flatten(), reduction="none"
    ).view(16, -1)
    model.set_attn_implementation("sdpa")
    story_loss = float(
        np.mean([loss_of(model, valid[i : i + 32]).item() for i in range(0, len(valid), 32)])
    )
    model.train()
    return dict(
        loss=story_loss,
        once=loss[:, :47].mean().item(),
        again=loss[:, 48:].mean().item(),
        previous=attention.diagonal(-1, 2, 3).mean(-1).flatten().tolist(),
        induction=twice.diagonal(-47, 2, 3)[..., 1:].mean(-1).flatten().tolist(),
    )


def half_weights(model):
    return {
        name: p.detach().half().contiguous()
        for name, p in model.state_dict().items()
        if name not in ("embed_out.weight", "lm_head.weight")
    }


def note(model, valid, run, work, train_loss):
    """Measure this step, keep its weights and print the measures."""
    m = measure(model, valid) | dict(step=run["step"], train=train_loss)
    run["curve"].append(m)
    save_file(
        half_weights(model), work / f"step-{run['step']:05}.safetensors", metadata={"format": "pt"}
    )
    best = lambda key: "{}.{} {:.2f}".format(*divmod(int(np.argmax(m[key])), HEADS), max(m[key]))
    print(
        f"step {m['step']} ({run['minutes']:.1f} min) train "
        f"{math.nan if train_loss is None else train_loss:.2f} stories {m['loss']:.2f}, random "
        f"{m['once']:.2f} "
        f"again {m['again']:.2f}, previous {best('previous')}, induction {best('induction')}",
        flush=True,
    )


def save_run(model, optimizers, rows, run, work):
    state = dict(
        model=model.state_dict(),
        optimizers=[o.state_dict() for o in optimizers],
        rng=rows.rng.bit_generator.state,
        run=run,
    )
    torch.save(state, work / "state.part")
    (work / "state.part").rename(work / "state.pt")


def load_run(model, optimizers, rows, work):
    """The run as it was left, or a new one."""
    if not (work / "state.pt").exists():
        return dict(step=0, minutes=0.0, curve=[])
    state = torch.load(work / "state.pt", weights_only=False)
    model.load_state_dict(state["model"])
    for optimizer, kept in zip(optimizers, state["optimizers"]):
        optimizer.load_state_dict(kept)
    rows.rng.bit_generator.state = state["rng"]
    return state["run"]


def train(model, rows, valid, a):
    """Warm-up, then a constant rate, so that what happens at a step is the model's doing and not
    the schedule's."""
    optimizers = make_optimizers(model, a.lr)
    run, recent = load_run(model, optimizers, rows, a.work), []
    before, began = run["minutes"], time.process_time()
    while run["minutes"] < a.minutes:
        if run["step"] % MEASURED == 0 and (
            not run["curve"] or run["curve"][-1]["step"] < run["step"]
        ):
            note(model, valid, run, a.work, float(np.mean(recent)) if recent else None)
            recent = []
        if run["step"] % 500 == 0:
            save_run(model, optimizers, rows, run, a.work)
        for group in (g for o in optimizers for g in o.param_groups):
            group["lr"] = a.lr * min(1, (run["step"] + 1) / 100)
        loss = loss_of(model, rows.batch(a.batch, a.repeated))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for o in optimizers:
            o.step()
            o.zero_grad(set_to_none=True)
        recent.append(loss.item())
        run["step"] += 1
        run["minutes"] = before + (time.process_time() - began) / 60
    save_run(model, optimizers, rows, run, a.work)
    return run


def chosen_steps(curve):
    """Twelve measured steps: the first, the last, and the more of them the nearer to the step at
    which the best induction head is half way (core/learn/stations/formation_run.h says the same of
    run.json)."""
    best = int(np.argmax(curve[-1]["induction"]))
    scores = [m["induction"][best] for m in curve]
    t = next(i for i, s in enumerate(scores) if s >= (scores[0] + max(scores)) / 2)
    end = len(curve) - 1
    places = {
        0,
        t // 8,
        t // 4,
        t // 2,
        3 * t // 4,
        t - 2,
        t - 1,
        t,
        t + 1,
        t + 2,
        round(math.sqrt((t + 2) * end)),
        end,
    }
    assert len(places) == CHECKPOINTS and t + 2 < end, (
        "the transition is too near to the beginning or the end"
    )
    return [curve[i]["step"] for i in sorted(places)]


def write(run, model, a):
    """The last step in the folder itself, the others in checkpoint-STEP; run.json with what was
    measured of all."""
    kept = chosen_steps(run["curve"])
    # transformers 4 knows the last two
    config = model.config.to_diff_dict() | dict(
        dtype="float16",
        architectures=["GPTNeoXForCausalLM"],
        model_type="gpt_neox",
        rotary_pct=0.5,
        rotary_emb_base=10000,
    )
    for step in kept:
        folder = a.out if step == kept[-1] else a.out / f"checkpoint-{step}"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
        shutil.copy(a.work / f"step-{step:05}.safetensors", folder / "model.safetensors")
        round_weights(folder)
    plain = lambda v: (
        [plain(x) for x in v] if isinstance(v, list) else round(v, 4) if isinstance(v, float) else v
    )
    rows = ",\n".join(" " + json.dumps({k: plain(v) for k, v in m.items()}) for m in run["curve"])
    (a.out / "run.json").write_text(f'{{"kept": {kept},\n"curve": [\n{rows}\n]}}\n')


def main():
    a = arguments()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    a.work.mkdir(parents=True, exist_ok=True)
    a.out.mkdir(parents=True, exist_ok=True)
    texts, held_out = (
        read_stories(a.data / "stories_train.txt"),
        read_stories(a.data / "stories_valid.txt"),
    )
    tok = train_tokenizer(texts, a.out, VOCAB, CONTEXT)
    rows, va = Rows(tok, texts, a.seed), Rows(tok, held_out, 0)
    valid = torch.from_numpy(np.stack([va.piece(CONTEXT + 1) for _ in range(32)]).astype(np.int64))
    model = make_model()
    print(
        (
            f"{len(rows.ids)} training tokens, "
            f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters"
        ),
        flush=True,
    )
    write(train(model, rows, valid, a), model, a)


if __name__ == "__main__":
    main()
