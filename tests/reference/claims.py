#!/usr/bin/env python3
"""What cards, chips and texts say of the built-in models, against random models of the same shape.

    claims.py HEADLIGHT

A claim must hold in the trained model, and by a margin beyond the best of three random ones: a
random model moves words apart and has heads too. HEADLIGHT is not run; the tests name it alike."""

import json
import sys
from functools import partial
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2LMHeadModel,
    MarianMTModel,
    MarianTokenizer,
)

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 3
LEAST, MARGIN, EACH_ADJECTIVE = 0.25, 0.1, 0.4
rows, failed = [], 0


def claim(text, trained, random, least=LEAST):
    """Trained and random: a number that the claim says is large."""
    global failed
    good = trained >= least and trained >= random + MARGIN
    failed += not good
    rows.append(f"{'' if good else 'NOT '}{text}: {trained:.2f}, random at most {random:.2f}")


def beside_random(trained, random, measure, head):
    """A measure of each head, [layers, heads]: of the named head, and the best of random models."""
    return float(measure(trained)[head]), max(float(measure(r).max()) for r in random)


class Stories:
    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model.eval(), tokenizer

    def patterns(self, ids):
        """[layers, heads, queries, keys]"""
        out = self.model(torch.tensor([ids]), output_attentions=True)
        return torch.stack([a[0] for a in out.attentions])

    def of_text(self, text):
        return self.patterns(self.tokenizer(text).input_ids)


class Translator:
    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model.eval(), tokenizer

    def of_text(self, text, written, kind):
        """[layers, heads, queries, keys] of "encoder", "decoder" or "cross"."""
        source = self.tokenizer(text, return_tensors="pt").input_ids
        out = self.model(input_ids=source, decoder_input_ids=written, output_attentions=True)
        return torch.stack([a[0] for a in out[f"{kind}_attentions"]])


def stories():
    folder = ROOT / "models/stories"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    trained = Stories(model, tokenizer)
    random = []
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        random.append(Stories(GPT2LMHeadModel(model.config), tokenizer))
    return trained, random


def translator():
    folder = ROOT / "models/translator"
    tokenizer = MarianTokenizer.from_pretrained(folder)
    model = MarianMTModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    trained = Translator(model, tokenizer)
    random = []
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        random.append(Translator(MarianMTModel(model.config), tokenizer))
    return trained, random


def place(head):
    """ "cross.2.6" → ("cross", 2, 6); "3.5" → ("", 3, 5)"""
    *kind, layer, number = head.split(".")
    return (kind[0] if kind else "", int(layer), int(number))


def cells_at(model, given, q, k):
    """What each head gives of query q to key k, [layers, heads]."""
    return model.of_text(*given)[:, :, q, k]


def adjectives(s, trained):
    """A noun's adjectives, each with a weight of its own: the nearest alone is no claim of both."""
    tokens = [trained.tokenizer.decode([i]).strip() for i in trained.tokenizer(s["text"]).input_ids]
    _, layer, head = place(s["head"])
    row = trained.of_text(s["text"])[layer, head, s["query"]]
    for word in ("fluffy", "blue"):
        at = [i for i, token in enumerate(tokens) if token and word.startswith(token)]
        claim(f"“{s['text']}”: {word}", float(row[at].sum()), 0, EACH_ADJECTIVE)


def ready_sentences(trained, random, written):
    """Each card's head looks where it says: at one cell, more than any head of a random model."""
    for s in json.loads((ROOT / "assets/sentences.json").read_text()):
        if "head" not in s:
            continue
        kind, layer, head = place(s["head"])
        given = (s["text"],) if s["model"] == "stories" else (s["text"], written(s["text"]), kind)
        cells = partial(cells_at, given=given, q=s["query"], k=s["key"])
        if "adjectives" in s["why"]:
            adjectives(s, trained["stories"])
        cell, best = beside_random(trained[s["model"]], random[s["model"]], cells, (layer, head))
        claim(f"“{s['text']}”, {s['why']}, head {s['head']}", cell, best)


def formed_heads(trained, random):
    """Things to try: a previous-token head, and induction on random tokens said twice."""
    torch.manual_seed(1)
    ids = torch.randint(300, 4000, (48,)).tolist() * 2
    steps = torch.arange(len(ids))

    def previous(model):
        return model.patterns(ids)[:, :, steps[1:], steps[:-1]].mean(-1)

    def induction(model):
        again = steps[49:]
        return model.patterns(ids)[:, :, again, again - 47].mean(-1)

    for name, measure, head in (
        ("previous token, head 0.0", previous, (0, 0)),
        ("induction, head 1.2", induction, (1, 2)),
    ):
        claim(name, *beside_random(trained["stories"], random["stories"], measure, head), 0.5)


@torch.no_grad()
def main():
    trained, random = {}, {}
    trained["stories"], random["stories"] = stories()
    trained["translator"], random["translator"] = translator()

    def written(text):
        source = trained["translator"].tokenizer(text, return_tensors="pt")
        out = trained["translator"].model.generate(**source, num_beams=1, max_new_tokens=60)
        return out[:, :-1]

    ready_sentences(trained, random, written)
    formed_heads(trained, random)
    print("\n".join(rows) if failed else f"{len(rows)} claims hold beyond random models")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
