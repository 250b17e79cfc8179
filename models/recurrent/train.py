#!/usr/bin/env python3
"""Train two small networks that repeat what they read, one without attention and one with it.

    python models/recurrent/train.py --data DIR --out models/recurrent --minutes 8

Both are an encoder and a decoder of one GRU each (Cho et al. 2014), alike in size, data and steps.
The first packs the words into its last state and writes them down again from that alone; the second
may also look at every state of the encoder (dot product; Luong et al. 2015). Half of what they read
are words drawn at random, half are pieces of stories in which a word that they do not know is
replaced by a random one; no text twice. DIR holds stories_train.txt; its most frequent words and
those of the repository's own sentences are the vocabulary.

Needs torch, numpy and safetensors.
"""

import argparse
import json
import math
import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
WORDS, EMBEDDING, WIDTH, LONGEST = 512, 64, 128, 100
START, UNKNOWN = 0, 1  # the first ids; UNKNOWN stands for every other word
SENTENCE = (  # the article's sentence of 97 words (J. Saramago, Blindness, 1995)
    "On offering to help the blind man, the man who then stole his car, had not, at that precise "
    "moment, had any evil intention, quite the contrary, what he did was nothing more than obey "
    "those feelings of generosity and altruism which, as everyone knows, are the two best traits "
    "of human nature and to be found in much more hardened criminals than this one, a simple "
    "car-thief without any hope of advancing in his profession, exploited by the real owners of "
    "this enterprise, for it is they who take advantage of the needs of the poor."
)


def words_of(text):
    return re.findall(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text.lower())


def vocabulary(stories):
    """START, UNKNOWN, words of our own sentences, then the most frequent ones of the stories."""
    pairs = json.loads((ROOT / "assets/held_out.json").read_text())
    own = Counter(words_of(SENTENCE))
    for pair in pairs:
        own.update(words_of(pair[0] if isinstance(pair, list) else pair["source"]))
    out = ["<start>", "<unknown>", *sorted(own)]
    known = set(out)
    for word, _ in Counter(stories).most_common():
        if len(out) == WORDS:
            break
        if word not in known:
            out.append(word)
    return out


class Repeater(nn.Module):
    def __init__(self, attends):
        super().__init__()
        self.attends = attends
        self.embedding = nn.Embedding(WORDS, EMBEDDING)
        self.encoder = nn.GRU(EMBEDDING, WIDTH, batch_first=True)
        self.decoder = nn.GRU(EMBEDDING, WIDTH, batch_first=True)
        self.output = nn.Linear(2 * WIDTH if attends else WIDTH, EMBEDDING)

    def forward(self, x):
        """x: [rows, n]; logits of the same words, each given those before it: [rows, n, WORDS]."""
        read, last = self.encoder(self.embedding(x))
        before = torch.cat([torch.full_like(x[:, :1], START), x[:, :-1]], 1)
        written, _ = self.decoder(self.embedding(before), last)
        if self.attends:
            weights = (written @ read.transpose(1, 2) / math.sqrt(WIDTH)).softmax(2)
            written = torch.cat([written, weights @ read], 2)
        return torch.tanh(self.output(written)) @ self.embedding.weight.T * 2


class Texts:
    def __init__(self, ids, rng):
        self.ids, self.rng = ids, rng

    def batch(self, rows, n):
        x = self.rng.integers(UNKNOWN, WORDS, (rows, n))
        half = rows // 2
        at = self.rng.integers(0, len(self.ids) - n, half)
        told = self.ids[at[:, None] + np.arange(n)]
        x[:half] = np.where(told == UNKNOWN, x[:half], told)
        return torch.from_numpy(x)


def loss_of(model, x):
    return F.cross_entropy(model(x).flatten(0, 1), x.flatten())


@torch.no_grad()
def probability(model, x):
    """The geometric mean probability of a word, mean over rows; and the share of words that come
    first."""
    logits = model(x).log_softmax(2)
    p = logits.gather(2, x[..., None])[..., 0]
    return p.mean(1).exp().mean().item(), (logits.argmax(2) == x).float().mean().item()


def lengths(model, held):
    out = {}
    for n in (1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48):
        out[n] = [round(v, 3) for v in probability(model, held.batch(64, n)[:32])]
    return out


def save(models, words, a, minutes, steps):
    tensors = {}
    for name, model in models.items():
        for key, value in model.state_dict().items():
            tensors[f"{name}.{key}"] = value.half().contiguous()
    a.out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, a.out / "model.safetensors", metadata={"format": "pt"})
    config = dict(embedding=EMBEDDING, width=WIDTH, longest=LONGEST, steps=steps, words=words)
    (a.out / "network.json").write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n")


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--minutes", type=float, default=8, help="processor minutes of both")
    p.add_argument("--tokens", type=int, default=1024, help="words of a batch")
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--every", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    stories = words_of((a.data / "stories_train.txt").read_text().replace("<|endoftext|>", " "))
    words = vocabulary(stories)
    number = {w: i for i, w in enumerate(words)}
    to_ids = lambda text: np.array([number.get(w, UNKNOWN) for w in text])
    texts = Texts(to_ids(stories), np.random.default_rng(a.seed))
    valid = words_of((a.data / "stories_valid.txt").read_text().replace("<|endoftext|>", " "))
    held, sentence = to_ids(valid), torch.from_numpy(to_ids(words_of(SENTENCE)))[None]
    models = dict(without=Repeater(False), attention=Repeater(True))
    optimizers = {k: torch.optim.Adam(m.parameters(), lr=a.lr) for k, m in models.items()}
    print(f"{sum(p.numel() for m in models.values() for p in m.parameters())} weights", flush=True)
    start, step = time.process_time(), 0
    while (minutes := (time.process_time() - start) / 60) < a.minutes:
        part = minutes / a.minutes
        factor = min(1, (step + 1) / 100) * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * part)))
        longest = max(6, LONGEST * min(1, 2 * part))  # longer and longer, short ones most often
        n = 1 + int(longest * texts.rng.random() ** 2)
        x = texts.batch(max(8, a.tokens // n), n)
        for name, model in models.items():
            for group in optimizers[name].param_groups:
                group["lr"] = a.lr * factor
            loss = loss_of(model, x)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizers[name].step()
            optimizers[name].zero_grad(set_to_none=True)
        step += 1
        if step % a.every == 0:
            print(f"{minutes:.1f} min step {step}", flush=True)
            for name, model in models.items():
                by = lengths(model, Texts(held, np.random.default_rng(5)))
                print(f"   {name}: {by}; 97 words {probability(model, sentence)}", flush=True)
            save(models, words, a, minutes, step)
    for name, model in models.items():
        by = lengths(model, Texts(held, np.random.default_rng(5)))
        print(f"{name}: {by}; 97 words {probability(model, sentence)}")
    print(f"end: {minutes:.1f} minutes, {step} steps")
    save(models, words, a, minutes, step)


if __name__ == "__main__":
    main()
