#!/usr/bin/env python3
"""Teach the story model names again, and its own templates and loops away, in a few minutes.

    python models/stories/distill.py --before A --start B --keep B --data DIR --out C

A is the model before it learned from templates.py, B the one after. The teacher is 0.65 x A +
0.35 x B (Wortsman et al. 2022). The student is held to the teacher, that is, the divergence
between their predictions is its loss, on:

- stories,
- what the student writes itself (Agarwal et al. 2024),
- texts of templates.py, but for the last word of each, which is learned.

Texts with names that asked.py does not ask for teach it to give a name back. On "X had a red ball.
Y had a blue ball. X gave Y the red" it is held to B, with head 0.0 and without it, so that the
circuit of that sentence stays. What it says twice when it always takes the likeliest token is made
less likely (unlikelihood training, Welleck et al. 2020).

What is written is --average of the student and the rest of the teacher.

Needs what train.py needs. DIR is that of train.py.
"""

import argparse
import contextlib
import random
import re
import shutil
import time
from pathlib import Path

import asked
import numpy as np
import templates
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from train import Rows, logits_of, read_stories, save
from transformers import GPT2LMHeadModel

TEACHER_SHARE = 0.65  # of A in the teacher
STORIES, TEMPLATES, NAMES, CIRCUITS, SAMPLED, GREEDY = 4, 12, 10, 6, 6, 8  # texts of a step
WRITTEN = 76  # tokens that the student writes after an opening
OTHER_NAMES = """
    Rose Nina Fred Paul Grace Henry Alice Daisy Toby Felix Nora Ivy Hugo Zoe Jill Carl Otto Rosa
    Mark Luke Finn Eva Ida Ken Roy Polly Penny Bella Oliver Charlie Sophie Chloe Lola Mila Noah
    Adam Eric Victor Simon Martha Robin Susan George Fiona Bruno Tina
""".split()
OTHER_NAMES += [n for n in templates.GIRLS + templates.BOYS if n not in asked.NAMES]
NAME_TEXTS = [
    *["My name is {x}. What is my name? Your name is {x}"] * 2,
    "I am {x}. Who am I? You are {x}",
    "My name is {x}. I have a {thing}. What is my name? Your name is {x}",
    '"My name is {x}," said the {animal}. "Nice to meet you, {x}',
    'Her name was {x}. She had a {thing}. "What is your name?" asked the {animal}. "My name is {x}',
]


def opened(folder):
    """A model without dropout, its activation in the fused form."""
    return GPT2LMHeadModel.from_pretrained(
        folder, dtype=torch.float32, activation_function="gelu_pytorch_tanh"
    ).eval()


def mixed(model, other, share):
    """Weights share x model + (1 - share) x other."""
    theirs = other.state_dict()
    return {k: v.lerp(theirs[k], 1 - share) for k, v in model.state_dict().items()}


def divergence(logits, wanted):
    """KL(wanted || predicted) of each prediction, in nats."""
    return F.kl_div(
        logits.log_softmax(-1), wanted.log_softmax(-1), reduction="none", log_target=True
    ).sum(-1)


def mean_where(values, mask):
    return (values * mask).sum() / mask.sum().clamp_min(1)


class Texts:
    """Draws the texts of a step."""

    def __init__(self, tok, stories, seed):
        self.tok, self.random = tok, random.Random(seed)
        self.rows = Rows(tok, stories, np.random.default_rng(seed), seed)
        self.by_length = {}  # tokens of an opening: openings
        begins = [s for story in stories[::4] for s in self.begins(story)]
        for e in tok.encode_batch([s for s in begins if s not in asked.OPENINGS]):
            self.by_length.setdefault(len(e.ids), []).append(e.ids)

    def begins(self, story):
        """The first and one other sentence without speech, some cut after a few words."""
        found = [s for s in re.findall(r"[A-Z][^.!?\"\n]+\.", story) if len(s.split()) > 3]
        for s in found[:1] + self.random.sample(found, min(1, len(found))):
            cut = s.split()[: self.random.randint(3, 6)]
            yield " ".join(cut) if self.random.random() < 0.3 else s

    def padded(self, texts):
        """Ids [texts, n], and how many tokens each has."""
        ids = [self.tok.encode(t).ids for t in texts]
        n = max(map(len, ids))
        return torch.tensor([i + [0] * (n - len(i)) for i in ids]), [len(i) for i in ids]

    def with_answers(self, texts):
        """Ids, which predictions are of the last word (with all its tokens), which of the rest."""
        x, lengths = self.padded(texts)
        answer, rest = torch.zeros(2, len(x), x.shape[1] - 1)
        for i, n in enumerate(lengths):
            tokens = [self.tok.id_to_token(t) for t in x[i, :n].tolist()]
            at = max(j for j, t in enumerate(tokens) if t[0] == "Ġ")
            answer[i, at - 1 : n - 1 - (tokens[-1] == ".")] = 1
            rest[i, : n - 1] = 1
        return x, answer, rest - answer

    def templates(self):
        return self.with_answers([templates.text(self.random) for _ in range(TEMPLATES)])

    def names(self):
        draw = self.random.choice
        fill = lambda text: text.format(
            x=draw(OTHER_NAMES), thing=draw(templates.THINGS), animal=draw(templates.CREATURES)
        )
        return self.with_answers([fill(draw(NAME_TEXTS)) for _ in range(NAMES)])

    def circuits(self):
        """Sentences like asked.CIRCUIT, never it, some of other things; and their last places."""
        texts, draw = [], self.random.sample
        while len(texts) < CIRCUITS:
            (x, y), thing, colors = draw(OTHER_NAMES, 2), "ball", ["red", "blue"]
            if self.random.random() < 0.5:
                thing, colors = self.random.choice(templates.THINGS), draw(templates.COLORS, 2)
            one, other = (f"{templates.a(c)} {thing}" for c in colors)
            texts.append(f"{x} had {one}. {y} had {other}. {x} gave {y} the {colors[0]}")
            if texts[-1] == asked.CIRCUIT:
                texts.pop()
        x, lengths = self.padded(texts)
        return x, torch.tensor(lengths) - 1

    def openings(self, count):
        """Of one length, [count, length]."""
        enough = [(n, len(all_)) for n, all_ in self.by_length.items() if len(all_) >= count]
        n = self.random.choices(*zip(*enough))[0]
        return torch.tensor(self.random.sample(self.by_length[n], count))


@torch.no_grad()
def written(model, begin):
    """What the model writes after each opening, with it, [rows, n]: in the first GREEDY rows the
    likeliest tokens, in the others draws at temperature 0.7 to 1 from the likeliest 40."""
    given, past, out = begin, None, [begin]
    heat = 0.7 + 0.3 * torch.rand(len(begin) - GREEDY, 1)
    for _ in range(WRITTEN):
        step = model(given, past_key_values=past, use_cache=True)
        logits, past = step.logits[:, -1], step.past_key_values
        top = logits[GREEDY:].topk(40)
        drawn = top.indices.gather(1, torch.multinomial((top.values / heat).softmax(1), 1))
        given = torch.cat([logits[:GREEDY].argmax(1, keepdim=True), drawn])
        out.append(given)
    return torch.cat(out, 1)


def said_twice(x, begin, n=4):
    """[rows, tokens - 1]: predictions after the opening whose token is one of n in a row that were
    said before."""
    out = torch.zeros(len(x), x.shape[1] - 1)
    for row, ids in enumerate(x.tolist()):
        seen = set()
        for end in range(n, len(ids) + 1):
            gram = tuple(ids[end - n : end])
            if gram in seen and 0 not in gram:
                out[row, max(end - n, begin) - 1 : end - 1] = 1
            seen.add(gram)
    return out


def losses_of_own_text(student, teacher, texts):
    """To stay near the teacher where the student writes; not to say a thing twice; and the share of
    the greedy text that was said twice."""
    begin = texts.openings(GREEDY + SAMPLED)
    x = written(student, begin)
    before_end = (x[:, :-1] != 0).float().cumprod(1)
    before_end[:, : begin.shape[1] - 1] = 0
    logits = logits_of(student, x)
    with torch.no_grad():
        wanted = logits_of(teacher, x)
    twice = said_twice(x, begin.shape[1]) * before_end
    twice[GREEDY:] = 0
    near = mean_where(divergence(logits, wanted), before_end - twice)
    p = logits[:GREEDY].softmax(-1).gather(2, x[:GREEDY, 1:, None])[..., 0]
    count = before_end[:GREEDY].sum().clamp_min(1)
    loop = (-(1 - p).clamp_min(1e-4).log() * twice[:GREEDY]).sum() / count
    return near, loop, twice.sum().item() / count.item()


def losses_of_answers(student, teacher, x, answer, rest):
    """To learn the answer; in the rest to stay near the teacher."""
    logits = logits_of(student, x)
    with torch.no_grad():
        wanted = logits_of(teacher, x)
    each = F.cross_entropy(logits.transpose(1, 2), x[:, 1:], reduction="none")
    return mean_where(each, answer), mean_where(divergence(logits, wanted), rest)


def loss_of_circuit(student, keep, x, last):
    """To predict what B does after the sentence, with head 0.0 and without it."""
    at_end = lambda model: model(x).logits[torch.arange(len(x)), last]
    total = 0.0
    for cut in (lambda _: contextlib.nullcontext(), lambda m: asked.without_head(m, 0, 0)):
        with torch.no_grad(), cut(keep):
            wanted = at_end(keep)
        with cut(student):
            total = total + divergence(at_end(student), wanted).mean()
    return total


def step_losses(student, teacher, keep, texts, a):
    """Each loss of a step by its name; and the share of greedy text that was said twice."""
    x = torch.from_numpy(np.stack([texts.rows.story()[0] for _ in range(STORIES)]))
    with torch.no_grad():
        wanted = logits_of(teacher, x)
    losses = dict(stories=divergence(logits_of(student, x), wanted).mean())
    x, known = map(lambda t: torch.from_numpy(t)[None], texts.rows.repeated())
    each = F.cross_entropy(logits_of(student, x).transpose(1, 2), x[:, 1:], reduction="none")
    losses["repeated"] = 0.1 * mean_where(each, known.float())
    losses["own text"], loop, twice = losses_of_own_text(student, teacher, texts)
    losses["loops"] = a.loops * loop
    answers, losses["templates"] = losses_of_answers(student, teacher, *texts.templates())
    names, rest = losses_of_answers(student, teacher, *texts.names())
    losses |= dict(answers=0.3 * answers, names=0.3 * names, around_names=0.3 * rest)
    losses["circuit"] = 0.5 * loss_of_circuit(student, keep, *texts.circuits())
    return losses, twice


def train(student, teacher, keep, texts, a):
    """Ten steps of warm-up, then a straight line to 4 % of the rate."""
    optimizer = torch.optim.AdamW(
        student.parameters(), betas=(0.9, 0.98), weight_decay=0.0, fused=True
    )
    start = time.time()
    for step in range(a.steps):
        rate = min(1, (step + 1) / 10) * (0.04 + 0.96 * (1 - step / a.steps))
        optimizer.param_groups[0]["lr"] = a.lr * rate
        losses, twice = step_losses(student, teacher, keep, texts, a)
        sum(losses.values()).backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 6 == 0 or step == a.steps - 1:
            shown = ", ".join(f"{k} {v.item():.3f}" for k, v in losses.items())
            at = f"{time.time() - start:4.0f} s step {step}"
            print(f"{at}: {shown}; said twice {twice:.2f}", flush=True)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--before", type=Path, required=True, help="A: before the templates")
    p.add_argument("--start", type=Path, required=True, help="the student's first weights")
    p.add_argument("--keep", type=Path, required=True, help="B: the model whose circuit stays")
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--lr", type=float, default=4e-4)
    p.add_argument("--loops", type=float, default=3.0, help="weight of the loss against loops")
    p.add_argument("--average", type=float, default=0.9, help="share of the student in the result")
    p.add_argument("--seed", type=int, default=5)
    a = p.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    tok = Tokenizer.from_file(str(a.start / "tokenizer.json"))
    teacher, keep, student = opened(a.before), opened(a.keep), opened(a.start)
    teacher.load_state_dict(mixed(teacher, keep, TEACHER_SHARE))
    texts = Texts(tok, read_stories(a.data / "stories_train.txt"), a.seed)
    train(student, teacher, keep, texts, a)
    student.load_state_dict(mixed(student, teacher, a.average))
    a.out.mkdir(parents=True, exist_ok=True)
    save(student, a.out)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt"):
        shutil.copy(a.start / name, a.out / name)


if __name__ == "__main__":
    main()
