#!/usr/bin/env python3
"""Train the built-in story model: a GPT-2 architecture decoder on simple English stories.

    python models/stories/train.py --data DIR --out models/stories --minutes 75
    python models/stories/train.py --data DIR --continue-from OLD --teacher OLD --adjective-head
    0.05 --out NEW --lr 5e-4 --minutes 20

DIR holds stories_train.txt and stories_valid.txt, stories separated by a line "<|endoftext|>".
The folder written loads with transformers (GPT2LMHeadModel, AutoTokenizer) and with Headlight.
README.md beside this file says where the text comes from and what a run reached.

Needs torch >= 2.9 (torch.optim.Muon), transformers and tokenizers.
"""

import argparse
import json
import math
import random
import re
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import templates
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from transformers import GPT2Config, GPT2LMHeadModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from training import fast_arithmetic, make_optimizers, read_stories, train_tokenizer

LAYERS, HEADS, WIDTH, CONTEXT, VOCAB = 4, 8, 256, 256, 4096
HEAD_WIDTH = WIDTH // HEADS
ADJECTIVE_LAYER, ADJECTIVE_HEAD = 2, 6  # the head that --adjective-head trains
PHRASE = re.compile(
    rf"\b({'|'.join(templates.SIZES + templates.LOOKS)}) ({'|'.join(templates.COLORS)}) "
    rf"({'|'.join(templates.CREATURES + templates.THINGS)})\b"
)


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument(
        "--minutes",
        type=float,
        default=75,
        help="processor minutes per thread; the schedule follows them",
    )
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument(
        "--repeated", type=float, default=0.1, help="share of rows in which a segment comes again"
    )
    p.add_argument(
        "--templates",
        type=float,
        default=0.3,
        help="share of the other rows that hold texts of templates.py",
    )
    p.add_argument(
        "--continue-from",
        type=Path,
        help="train this folder's weights further, with its tokenizer; --out may not be it",
    )
    p.add_argument(
        "--teacher",
        type=Path,
        help="on stories, stay near what the model of this folder predicts (Li and Hoiem 2016)",
    )
    p.add_argument(
        "--adjective-head",
        type=float,
        default=0.0,
        help="weight of a loss that lets one head look from a noun to its adjectives",
    )
    p.add_argument(
        "--state",
        type=Path,
        help="a file that keeps the run: started again with it, it goes on where it was",
    )
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


class Rows:
    """Training rows of CONTEXT + 1 ids and the weight of each prediction in the loss."""

    def __init__(self, tok, texts, rng, seed=1):
        ids, starts = [], []
        for e in tok.encode_batch(texts):
            starts.append(len(ids))
            ids.append(0)
            ids.extend(e.ids)
        self.ids, self.starts, self.rng = np.array(ids + [0]), np.array(starts), rng
        self.vocab, self.tok, self.random = tok.get_vocab_size(), tok, random.Random(seed)

    def templates(self):
        """Texts of templates.py one after the other, some of them with the end token between; and
        the places of nouns with their adjectives, (noun, adjective, adjective)."""
        row, phrases = [], []
        while len(row) < CONTEXT + 1:
            row += [0] * (self.random.random() < 0.5)
            text = templates.text(self.random)
            e = self.tok.encode(text)
            for match in PHRASE.finditer(text):
                ends = [
                    next(i for i, (_, end) in enumerate(e.offsets) if end >= match.end(g))
                    for g in (3, 1, 2)
                ]
                phrases.append([len(row) + place for place in ends])
            row += e.ids
        return (
            np.array(row[: CONTEXT + 1]),
            np.ones(CONTEXT),
            [p for p in phrases if p[0] < CONTEXT],
        )

    def story(self):
        """From a story's start (half of them without the end token before it, as in typed text), or
        anywhere."""
        n, r = CONTEXT + 1, self.rng.random()
        p = (
            self.rng.choice(self.starts) + (r < 0.35)
            if r < 0.7
            else self.rng.integers(0, len(self.ids) - n)
        )
        return self.ids[min(p, len(self.ids) - n) :][:n], np.ones(n - 1)

    def repeated(self):
        """One segment that comes again and again with random gaps: only looking back by content
        predicts it."""
        n, rng = CONTEXT + 1, self.rng
        length = int(rng.integers(4, 25) if rng.random() < 0.6 else rng.integers(25, n // 2 - 8))
        if rng.random() < 0.5:
            segment = rng.integers(1, self.vocab, length)
        else:
            p = rng.integers(0, len(self.ids) - 2000)
            words = self.ids[p : p + 1500]
            segment = rng.permutation(words[words > 0])[:length]
        row = [0] if rng.random() < 0.5 else []
        known, again = [0.0] * len(row), 0.0  # known: this token can be told from an earlier copy
        while len(row) < n:
            gap = rng.integers(
                1, self.vocab, int(rng.integers(0, 9)) if rng.random() < 0.7 else 0
            ).tolist()
            row += segment.tolist() + gap
            known += [0.0] + [again] * (len(segment) - 1) + [0.0] * len(gap)
            again = 1.0
        return np.array(row[:n]), np.array(known[1:n])

    def row(self, share_repeated, share_templates):
        """Ids, weights of the predictions, phrases, whether it is of a story."""
        if self.rng.random() < share_repeated:
            return *self.repeated(), [], False
        return (
            (*self.templates(), False)
            if self.rng.random() < share_templates
            else (*self.story(), [], True)
        )

    def batch(self, size, share_repeated, share_templates):
        """Ids, weights, [phrases, 4] of row, noun and adjectives, and which rows are of stories."""
        rows = [self.row(share_repeated, share_templates) for _ in range(size)]
        x = torch.from_numpy(np.stack([r[0] for r in rows]).astype(np.int64))
        phrases = torch.tensor(
            [[i, *phrase] for i, r in enumerate(rows) for phrase in r[2]]
        ).reshape(-1, 4)
        return (
            x,
            torch.from_numpy(np.stack([r[1] for r in rows]).astype(np.float32)),
            phrases,
            torch.tensor([r[3] for r in rows]),
        )


@torch.no_grad()
def seed_heads(model):
    """Start with an induction circuit (all of it is trained further; the model card says so).

    Positions begin as sinusoids in the dimensions P. Head 0.0 attends one position back and writes
    that token into the dimensions S; head 0.1 attends to earlier copies of its own token; heads 1.0
    to 1.2 match "my token" with "the token before you" (S) and copy. Elhage et al. 2021, "A
    Mathematical Framework for Transformer Circuits".
    """
    t = model.transformer
    wte, wpe, d = t.wte.weight, t.wpe.weight, HEAD_WIDTH
    position = torch.arange(CONTEXT)[:, None]
    freq = 2.5 * torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(300.0) / WIDTH))
    wpe[:, 0::2], wpe[:, 1::2] = (
        0.05 * torch.sin(position * freq),
        0.05 * torch.cos(position * freq),
    )
    pairs = torch.linspace(0, 0.32 * WIDTH / 2, d // 2).long().tolist()
    pos_dims = [i for k in pairs for i in (2 * k, 2 * k + 1)]
    free = [i for i in range(WIDTH) if i not in pos_dims]
    S, T = torch.tensor(free[-d:]), torch.tensor(free[:-d])
    wte[:, pos_dims] = 0
    wte[:, S] = 0
    wpe[:, S] = 0
    wpe[:, T] = 0
    for block in t.h:  # the random rest starts quietly
        block.attn.c_proj.weight *= 0.1
        block.mlp.c_proj.weight *= 0.1
    basis = lambda width: torch.linalg.qr(torch.randn(len(T), width))[0]
    q, k, v = 0, WIDTH, 2 * WIDTH
    cols, tokens_in = torch.arange(d), basis(d)

    attn, proj = t.h[0].attn.c_attn.weight, t.h[0].attn.c_proj.weight
    for o in (q, k, v):
        attn[:, o : o + d] = 0
    proj[:d] = 0
    # Head 0.0: query = rotation of position i to i - 1, key = position j.
    for c, i in enumerate(pairs):
        f, s_, c_ = freq[i], 2 * i, 2 * i + 1
        attn[s_, k + 2 * c] = attn[c_, k + 2 * c + 1] = 2.3
        attn[s_, q + 2 * c], attn[c_, q + 2 * c] = 2.3 * torch.cos(f), -2.3 * torch.sin(f)
        attn[s_, q + 2 * c + 1], attn[c_, q + 2 * c + 1] = 2.3 * torch.sin(f), 2.3 * torch.cos(f)
    attn[T[:, None], v + cols] = 0.5 * tokens_in
    proj[cols, S] = 0.4

    same = d - 8  # head 0.1: my own token, but not where I stand
    tok_basis, tok_cols = basis(same), torch.arange(same)
    for o in (q, k):
        attn[:, o + d : o + 2 * d] = 0
        attn[T[:, None], o + d + tok_cols] = 1.4 * tok_basis
    for c, i in enumerate(pairs[::4][:4]):
        for e in (0, 1):
            attn[2 * i + e, q + d + same + 2 * c + e] = -3.2
            attn[2 * i + e, k + d + same + 2 * c + e] = 3.2

    attn, proj = t.h[1].attn.c_attn.weight, t.h[1].attn.c_proj.weight
    for h in range(3):  # heads 1.0 to 1.2
        copy = basis(d)
        for o in (q, k, v):
            attn[:, o + h * d : o + (h + 1) * d] = 0
        proj[h * d : (h + 1) * d] = 0
        attn[T[:, None], q + h * d + cols] = 1.2 * tokens_in
        attn[S, k + h * d + cols] = 1.2
        attn[T[:, None], v + h * d + cols] = 0.7 * copy
        proj[h * d + cols[:, None], T] = 0.7 * copy.T


def make_model(vocab, dropout):
    # = gelu_new, fused: 1.6 x faster training
    config = GPT2Config(
        vocab_size=vocab,
        n_positions=CONTEXT,
        n_embd=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        resid_pdrop=dropout,
        embd_pdrop=dropout,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
        tie_word_embeddings=True,
        initializer_range=0.05,
        activation_function="gelu_pytorch_tanh",
    )
    model = GPT2LMHeadModel(config)
    seed_heads(model)
    return model


def logits_of(model, x):
    with fast_arithmetic():
        return model.lm_head(model.transformer(x[:, :-1]).last_hidden_state).float()


def loss_of(model, x):
    return F.cross_entropy(logits_of(model, x).flatten(0, 1), x[:, 1:].flatten())


def adjective_loss(hidden, attention, phrases):
    """-log of the weight from nouns on their adjectives, of one head; hidden: what enters its
    layer's c_attn, [rows, n, width]."""
    at = ADJECTIVE_HEAD * HEAD_WIDTH
    row, noun, first, second = phrases.T
    q, k, _ = attention.c_attn(hidden).split(WIDTH, dim=2)
    q, k = q[row, noun, at : at + HEAD_WIDTH], k[row, :, at : at + HEAD_WIDTH]
    scores = torch.einsum("pd,pnd->pn", q, k).float() / math.sqrt(HEAD_WIDTH)
    scores = scores.masked_fill(torch.arange(scores.shape[1]) > noun[:, None], -math.inf)
    weights, each = scores.softmax(1), torch.arange(len(row))
    return -(weights[each, first] + weights[each, second]).clamp_min(1e-6).log().mean()


def training_loss(model, teacher, rows, a):
    """The next token's; on stories, where there is a teacher, the distance to what it predicts."""
    x, weight, phrases, stories = rows.batch(a.batch, a.repeated, a.templates)
    entered, attention = [], model.transformer.h[ADJECTIVE_LAYER].attn
    hook = attention.c_attn.register_forward_pre_hook(lambda _, inputs: entered.append(inputs[0]))
    logits = logits_of(model, x)
    hook.remove()
    loss = F.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten(), reduction="none").view(
        weight.shape
    )
    if teacher is not None and stories.any():
        with torch.no_grad():
            wanted = logits_of(teacher, x[stories]).log_softmax(2)
        kept = F.kl_div(
            logits[stories].log_softmax(2), wanted, reduction="none", log_target=True
        ).sum(2)
        loss = loss.masked_scatter(stories[:, None].expand_as(loss), kept)
    total = (loss * weight).sum() / weight.sum()
    if a.adjective_head and len(phrases):
        with fast_arithmetic():
            total = total + a.adjective_head * adjective_loss(entered[0], attention, phrases)
    return total


@torch.no_grad()
def evaluate(model, rows):
    model.eval()
    loss = np.mean([loss_of(model, rows[i : i + 16]).item() for i in range(0, len(rows), 16)])
    model.train()
    return float(loss)


@torch.no_grad()
def head_scores(model, vocab, rows):
    """Mean attention of each head: to the previous token and the first (stories); to the earlier
    copy of a token and to the token after that copy (48 random tokens, repeated once); and the loss
    on both halves."""
    model.eval()
    model.set_attn_implementation("eager")
    stories = torch.stack(
        [a.mean(0) for a in model(rows[:16, :128], output_attentions=True).attentions]
    )
    half = np.random.default_rng(7).integers(1, vocab, (16, 48))
    x = torch.from_numpy(np.concatenate([np.zeros((16, 1), np.int64), half, half], 1))
    out = model(x, output_attentions=True)
    twice = torch.stack([a.mean(0) for a in out.attentions])
    loss = F.cross_entropy(
        out.logits[:, :-1].flatten(0, 1), x[:, 1:].flatten(), reduction="none"
    ).view(16, -1)
    model.set_attn_implementation("sdpa")
    model.train()
    diagonal = lambda a, back, first: a.diagonal(-back, 2, 3)[..., first:].mean(-1)
    scores = dict(
        previous=diagonal(stories, 1, 8),
        first=stories[:, :, 8:, 0].mean(-1),
        duplicate=diagonal(twice, 48, 2),
        induction=diagonal(twice, 47, 3),
    )
    return scores, loss[:, :48].mean().item(), loss[:, 49:].mean().item()


def describe(scores, once, again):
    best = lambda t: " ".join(
        f"{i // HEADS}.{i % HEADS} {t.flatten()[i]:.2f}"
        for i in t.flatten().topk(3).indices.tolist()
    )
    print(
        "   heads: "
        + "; ".join(f"{k} {best(v)}" for k, v in scores.items())
        + f"; random tokens {once:.2f}, repeated {again:.2f}",
        flush=True,
    )


def save(model, out):
    """F16 weights under the name of the activation that every reader knows."""
    model.config.activation_function = "gelu_new"
    half = GPT2LMHeadModel(model.config)
    half.load_state_dict(model.state_dict())
    half.half().save_pretrained(out)
    model.config.activation_function = "gelu_pytorch_tanh"


@torch.no_grad()
def sample(model, tok, prompt, seed):
    model.eval()
    torch.manual_seed(seed)
    ids = torch.tensor([tok.encode(prompt).ids])
    y = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=60,
        do_sample=True,
        temperature=0.7,
        top_k=40,
        pad_token_id=0,
    )
    model.train()
    return tok.decode(y[0].tolist()).replace("\n", " / ")


class Run:
    """Where a training stands: weights, optimizers, draws and minutes, in a file where one was
    named."""

    def __init__(self, model, optimizers, rows, path):
        self.model, self.optimizers, self.rows, self.path = model, optimizers, rows, path
        self.step, self.minutes, self.best = 0, 0.0, math.inf
        if path and path.exists():
            state = torch.load(path, weights_only=False)
            model.load_state_dict(state["model"])
            for optimizer, kept in zip(optimizers, state["optimizers"]):
                optimizer.load_state_dict(kept)
            rows.rng.bit_generator.state = state["rng"]
            rows.random.setstate(state["random"])
            self.step, self.minutes, self.best = state["place"]

    def save(self):
        if self.path:
            part = self.path.with_suffix(".part")
            torch.save(
                dict(
                    model=self.model.state_dict(),
                    optimizers=[o.state_dict() for o in self.optimizers],
                    rng=self.rows.rng.bit_generator.state,
                    random=self.rows.random.getstate(),
                    place=(self.step, self.minutes, self.best),
                ),
                part,
            )
            part.rename(self.path)


def check(run, valid, recent, a):
    """Print where the run stands; keep the weights of the best validation loss of its last 70 %."""
    v = evaluate(run.model, valid)
    print(
        f"{run.minutes:5.1f} min step {run.step} {run.step * a.batch * CONTEXT / 1e6:.1f} M "
        "tokens, "
        f"train {np.mean(recent[-100:]):.3f} valid {v:.3f}",
        flush=True,
    )
    if run.step % 1000 == 0:
        describe(*head_scores(run.model, run.rows.vocab, valid))
    if v < run.best and run.minutes > 0.3 * a.minutes:
        run.best = v
        save(run.model, a.out)


def train(model, teacher, rows, valid, a):
    """Warm-up, then cosine to 4 %."""
    run, recent = Run(model, make_optimizers(model, a.lr), rows, a.state), []
    before, start = run.minutes, time.process_time()
    while run.minutes < a.minutes:
        factor = min(1, (run.step + 1) / 150) * (
            0.04 + 0.96 * 0.5 * (1 + math.cos(math.pi * run.minutes / a.minutes))
        )
        for group in (g for o in run.optimizers for g in o.param_groups):
            group["lr"] = a.lr * factor
        loss = training_loss(model, teacher, rows, a)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for o in run.optimizers:
            o.step()
            o.zero_grad(set_to_none=True)
        recent.append(loss.item())
        run.step += 1
        run.minutes = before + (time.process_time() - start) / a.threads / 60
        if run.step % 100 == 0:
            check(run, valid, recent, a)
            run.save()
    check(run, valid, recent, a)
    run.save()
    save(model, a.out / "last")
    print(
        f"end: {run.step} steps, {run.step * a.batch * CONTEXT / 1e6:.1f} M tokens, best "
        f"{run.best:.3f}"
    )


def new_tokenizer(texts, out):
    """With the two classic GPT-2 files beside tokenizer.json."""
    tok = train_tokenizer(texts, out, VOCAB, CONTEXT)
    bpe = json.loads(tok.to_str())["model"]
    (out / "vocab.json").write_text(json.dumps(bpe["vocab"], ensure_ascii=False), encoding="utf-8")
    merges = [m if isinstance(m, str) else " ".join(m) for m in bpe["merges"]]
    (out / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
    return tok


def open_tokenizer(texts, a):
    """A new one, or that of the folder whose weights are trained further."""
    if not a.continue_from:
        return new_tokenizer(texts, a.out)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt"):
        shutil.copy(a.continue_from / name, a.out / name)
    return Tokenizer.from_file(str(a.out / "tokenizer.json"))


def main():
    a = arguments()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    a.out.mkdir(parents=True, exist_ok=True)
    texts, held_out = (
        read_stories(a.data / "stories_train.txt"),
        read_stories(a.data / "stories_valid.txt"),
    )
    tok = open_tokenizer(texts, a)
    rows = Rows(tok, texts, np.random.default_rng(a.seed), a.seed)
    va = Rows(tok, held_out, np.random.default_rng(0))
    valid = torch.from_numpy(
        np.stack([va.ids[p : p + CONTEXT + 1] for p in va.starts[:-6][::2][:64]])
    )
    model = make_model(rows.vocab, a.dropout)
    if a.continue_from:
        model.load_state_dict(
            {
                k: v.float()
                for k, v in GPT2LMHeadModel.from_pretrained(a.continue_from).state_dict().items()
            }
        )
    print(
        (
            f"{len(rows.ids)} training tokens, "
            f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters"
        ),
        flush=True,
    )
    teacher = (
        GPT2LMHeadModel.from_pretrained(a.teacher, dtype=torch.float32).eval()
        if a.teacher
        else None
    )
    train(model, teacher, rows, valid, a)
    describe(*head_scores(model, rows.vocab, valid))
    for i, p in enumerate(
        [
            "Once upon a time, there was a little girl named Lily.",
            "Tom had a red ball. He",
            "The dog and the cat went to the park. The dog",
        ]
    ):
        print(">>", sample(model, tok, p, i), flush=True)


if __name__ == "__main__":
    main()
