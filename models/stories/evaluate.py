#!/usr/bin/env python3
"""Measure a folder of the story model by what the articles speak of, and print which bars it meets.

    python models/stories/evaluate.py models/stories --data DIR [--json FILE]

Asked are combinations of words that templates.py holds out, and sentences of our own that no
template writes. DIR holds stories_valid.txt. Needs torch, transformers and tokenizers.
"""

import argparse
import json
import random
import re
from pathlib import Path

import asked
import numpy as np
import templates
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from train import CONTEXT, Rows, evaluate, head_scores, read_stories
from transformers import GPT2LMHeadModel

HEAD, EACH_BAR, INDUCTION_BAR, SENSE_BAR, RANDOM_BAR = (2, 6), 0.4, 0.9, 0.9, 0.65
LOSS_BAR, NAME_BAR, OPENINGS_BAR, TEMPLATE_BAR, BALL_BAR = 2.257, 0.8, 7, 0.02, 0.98
CUT_BAR = 0.15  # of the ball, without the previous-token head
OWN_SENTENCES = {  # word: sense: beginnings up to the word's second time; none is a template's
    "bark": {
        "dog": [
            "The dog gave a loud bark. Everyone heard the bark",
            "The puppy has a funny bark. Mom likes the bark",
            "The big dog growled and then came a bark. He was afraid of the bark",
        ],
        "tree": [
            "The old tree has thick bark. The bug sat on the bark",
            "She touched the tree and its rough bark. She liked the bark",
            "The bird pecked at the tree and the bark. It ate from the bark",
        ],
    },
    "bat": {
        "cave": [
            "At night a bat flew out of the dark cave. They watched the bat",
            "The bat hung upside down and slept. We saw the bat",
            "With its black wings the bat flew away. She looked for the bat",
        ],
        "game": [
            "Dad gave him a ball and a bat to play. He held the bat",
            "He hit the ball with a wooden bat. He dropped the bat",
            "The team needed a new bat for the game. She bought the bat",
        ],
    },
    "mole": {
        "ground": [
            "A mole lives under the grass in a tunnel. She saw the mole",
            "The small animal with soft fur was a mole. He fed the mole",
        ],
        "skin": [
            "The doctor looked at a brown spot, a mole. She touched the mole",
            "On her arm and her nose she had a mole. She showed the mole",
        ],
    },
}


class Reader:
    """A model with its tokenizer: attention and last vectors of a text, by the place of its
    words."""

    def __init__(self, model, tok):
        self.model, self.tok = model.eval(), tok
        model.set_attn_implementation("eager")

    @torch.no_grad()
    def read(self, text):
        """Tokens' places in the text, attention [layers, heads, n, n], last vectors [n, width],
        logits [n, vocab]."""
        e = self.tok.encode(text)
        out = self.model(torch.tensor([e.ids]), output_attentions=True, output_hidden_states=True)
        return e, torch.stack(out.attentions)[:, 0], out.hidden_states[-1][0], out.logits[0]

    def place(self, e, text, word, last=False):
        """The token at which the first (or last) occurrence of a word ends."""
        found = [m.end() for m in re.finditer(rf"\b{re.escape(word)}\b", text)]
        return next(
            i for i, (_, end) in enumerate(e.offsets) if end >= (found[-1] if last else found[0])
        )


def adjectives(reader, count):
    """Of HEAD, the weight from a noun on its far and its near adjective: [held-out pairs of the
    templates, 2], [own sentences, 2], [1, 2] of the article's."""
    rng, pairs = random.Random(3), []
    for _ in range(count):
        noun = rng.choice(templates.CREATURES + templates.THINGS)
        far, near = templates.adjectives(rng, noun, True)
        name = rng.choice(templates.GIRLS + templates.BOYS)
        pairs.append((f"One day {name} saw {templates.a(far)} {near} {noun}", noun, far, near))
    own = [(text, text.split()[-1], far, near) for text, far, near in asked.ADJECTIVES]
    return [
        torch.stack([asked.each_adjective(reader, *row)[HEAD] for row in rows])
        for rows in (pairs, own, [asked.ARTICLE])
    ]


def vectors(reader, sentences):
    """The last layer's vector of each sentence's last token."""
    return torch.stack([reader.read(text)[2][-1] for text in sentences])


def senses_apart(reader, known, asked):
    """Centroids of the known sentences of each sense name the sense of those asked: hits, count,
    and between-sense minus within-sense cosine (a positive number: vectors of one sense are more
    alike)."""
    names = list(known)
    unit = lambda t: F.normalize(t, dim=-1)
    mean = torch.cat([vectors(reader, known[n]) for n in names]).mean(0)
    centroids = unit(torch.stack([unit(vectors(reader, known[n]) - mean).mean(0) for n in names]))
    of = {n: unit(vectors(reader, asked[n]) - mean) for n in names}
    hits = sum(int((of[n] @ centroids.T).argmax(-1).eq(i).sum()) for i, n in enumerate(names))
    raw = {n: unit(vectors(reader, asked[n])) for n in names}
    within = np.mean(
        [((t @ t.T).sum() - len(t)).item() / (len(t) * (len(t) - 1)) for t in raw.values()]
    )
    between = np.mean(
        [(raw[a] @ raw[b].T).mean().item() for i, a in enumerate(names) for b in names[i + 1 :]]
    )
    return hits, sum(map(len, asked.values())), within - between


def sense_sentences(word, answer, hints, rng, count):
    out = []
    while len(out) < count:
        name, hint = rng.choice(templates.GIRLS + templates.BOYS), rng.choice(hints)
        if templates.held_out(word, name, hint):
            out.append(templates.begin_sense(word, hint, name))
    return out


def senses(reader, after=False):
    """Hits and counts by word; centroids from eight hints a sense, asked with the other four; all
    combinations held out. The vectors are those at the word's second time, or after it: at the end
    of the words that lead to the answer."""
    out, rng = {}, random.Random(5)
    for word, answers in templates.SENSES.items():
        end = templates.end_sense(word) if after else ""
        known = {
            a: [t + end for t in sense_sentences(word, a, hints[:8], rng, 16)]
            for a, hints in answers.items()
        }
        asked = {
            a: [t + end for t in sense_sentences(word, a, hints[8:], rng, 8)]
            for a, hints in answers.items()
        }
        out[word] = senses_apart(reader, known, asked)
        if word in OWN_SENTENCES:
            own = {a: known[a] for a in OWN_SENTENCES[word]}
            of_own = {a: [t + end for t in texts] for a, texts in OWN_SENTENCES[word].items()}
            out[word + ", own sentences"] = senses_apart(reader, own, of_own)
    return out


def share(rows, own):
    hits, count = (sum(r[i] for name, r in rows.items() if ("own" in name) == own) for i in (0, 1))
    return hits / count


def answers_right(reader, kind, count):
    """How often the last word of a held-out text is the model's first choice."""
    rng, hits = random.Random(11), 0
    for _ in range(count):
        text = kind(rng, True)
        e, _, _, logits = reader.read(text)
        at = reader.place(e, text, re.findall(r"[\w']+", text)[-1], last=True)
        while e.tokens[at][0] != "Ġ":
            at -= 1
        hits += int(logits[at - 1].argmax()) == e.ids[at]
    return hits / count


def pronoun_weights(reader):
    """Of the best head each: the weight from "it" on animal and on street in the article's two
    sentences."""
    out = {}
    for why, noun in (("tired", "animal"), ("wide", "street")):
        text = f"The animal didn't cross the street because it was too {why}"
        e, attention, _, _ = reader.read(text)
        q = reader.place(e, text, why)
        best = attention[:, :, q, reader.place(e, text, noun)]
        at = int(best.argmax())
        out[f"{why} to {noun}"] = (f"{at // best.shape[1]}.{at % best.shape[1]}", best.max().item())
    return out


def best(table):
    at = int(table.argmax())
    return f"{at // table.shape[1]}.{at % table.shape[1]}", table.max().item()


def measure(model, tok, data, count):
    rows = Rows(tok, read_stories(data / "stories_valid.txt"), np.random.default_rng(0))
    valid = torch.from_numpy(
        np.stack([rows.ids[p : p + CONTEXT + 1] for p in rows.starts[:-6][::2][:64]])
    )
    loss = evaluate(model, valid)
    scores, once, again = head_scores(model, rows.vocab, valid)
    reader = Reader(model, tok)
    pairs, own, article = adjectives(reader, count)
    openings = asked.openings(reader)
    from_templates, _ = asked.template_share(reader)
    rows, later = senses(reader), senses(reader, after=True)
    torch.manual_seed(0)
    chance = Reader(GPT2LMHeadModel(model.config), tok)
    by_chance, later_by_chance = senses(chance), senses(chance, after=True)
    return dict(
        valid_loss=loss,
        previous=best(scores["previous"]),
        induction=best(scores["induction"]),
        random_once=once,
        random_again=again,
        far_and_near_adjective_of_held_out_pairs=tuple(pairs.mean(0).tolist()),
        far_and_near_adjective_of_own_sentences=tuple(own.mean(0).tolist()),
        far_and_near_adjective_of_the_article=tuple(article[0].tolist()),
        each_adjective_at_least_the_bar=(pairs.min(1).values >= EACH_BAR).float().mean().item(),
        two_tokens_before_a_plain_noun=asked.plain_weight(reader, HEAD),
        names=asked.names(reader),
        openings_without_a_loop=sum(not loop for _, loop in openings),
        of_those_without_template_text=sum(
            not loop and not asked.TEMPLATE_TEXT.search(text) for text, loop in openings
        ),
        samples_with_template_text=from_templates,
        circuit=asked.circuit(reader),
        senses=share(rows, False),
        senses_of_own_sentences=share(rows, True),
        senses_of_a_random_model=share(by_chance, False),
        senses_after=share(later, False),
        senses_after_of_own_sentences=share(later, True),
        senses_after_of_a_random_model=share(later_by_chance, False),
        within_minus_between={name: r[2] for name, r in rows.items()},
        senses_by_word={name: r[0] / r[1] for name, r in rows.items()},
        right={
            kind.__name__: answers_right(reader, kind, count)
            for kind in dict.fromkeys(templates.KINDS)
        },
        it_was_too=pronoun_weights(reader),
    )


def shown(value):
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, dict):
        return ", ".join(f"{k} {shown(v)}" for k, v in value.items())
    return " ".join(map(shown, value)) if isinstance(value, tuple) else str(value)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folder", type=Path)
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--count", type=int, default=100, help="texts of each kind")
    p.add_argument("--json", type=Path)
    a = p.parse_args()
    torch.set_num_threads(1)
    tok = Tokenizer.from_file(str(a.folder / "tokenizer.json"))
    m = measure(
        GPT2LMHeadModel.from_pretrained(a.folder, dtype=torch.float32), tok, a.data, a.count
    )
    for key, value in m.items():
        print(f"{key.replace('_', ' ')}: {shown(value)}")
    each = lambda key: min(m[f"far_and_near_adjective_of_{key}"])
    bars = [
        ("validation loss (at most)", -m["valid_loss"], -LOSS_BAR),
        ("induction", m["induction"][1], INDUCTION_BAR),
        ("each of two adjectives, held-out pairs", each("held_out_pairs"), EACH_BAR),
        ("each of two adjectives, own sentences", each("own_sentences"), EACH_BAR),
        ("each of two adjectives, the article's sentence", each("the_article"), EACH_BAR),
        ("Anna remembered", m["names"]["asked"][0], NAME_BAR),
        ("the mean of ten names", m["names"]["asked"][1], NAME_BAR),
        ("openings of ten without a loop", m["openings_without_a_loop"], OPENINGS_BAR),
        ("of those, without template text", m["of_those_without_template_text"], OPENINGS_BAR),
        ("samples with template text (at most)", -m["samples_with_template_text"], -TEMPLATE_BAR),
        ("the red ball", m["circuit"]["ball"], BALL_BAR),
        ("the red ball without head 0.0 (at most)", -m["circuit"]["without"]["0.0"], -CUT_BAR),
        ("senses at the word", m["senses"], SENSE_BAR),
        ("senses behind it", m["senses_after"], SENSE_BAR),
        ("senses of own sentences at the word", m["senses_of_own_sentences"], SENSE_BAR),
        ("senses at the word, random model (at most)", -m["senses_of_a_random_model"], -RANDOM_BAR),
        (
            "senses behind it, random model (at most)",
            -m["senses_after_of_a_random_model"],
            -RANDOM_BAR,
        ),
    ]
    for name, value, bar in bars:
        print(
            f"{'meets' if value >= bar else 'FAILS'}  {name}: {abs(value):.2f} (bar {abs(bar):.2f})"
        )
    if a.json:
        a.json.write_text(json.dumps(m, indent=1))


if __name__ == "__main__":
    main()
