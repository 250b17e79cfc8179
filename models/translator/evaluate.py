#!/usr/bin/env python3
"""Measure a translator folder: BLEU and chrF (sacrebleu) on held-out pairs, greedy and with four
beams; which share of content words the best heads of cross-attention align rightly; and, on
combinations of words that templates.py holds out, whether "it" becomes er, sie or es rightly, and
which encoder head looks from "it" to its noun, whether numbers and unknown names are copied, and
whether relative clauses are right.

    python models/translator/evaluate.py models/translator --data DIR

DIR holds tatoeba_en_de_valid.tsv, which training and the choice of weights never look at.
Needs torch, transformers, sentencepiece and sacrebleu.
"""

import argparse
import random
import re
from pathlib import Path

import sacrebleu
import templates
import torch
from transformers import MarianMTModel, MarianTokenizer

BLEU_BAR, IT_BAR, HEAD_BAR, COPIED_BAR = 31.2, 0.9, 0.5, 0.95
PROBES = [
    "The cat sat on the mat.",
    "I have never seen him.",
    "She wants to buy a new car.",
    "Where is the old book?",
    "My brother wants to buy a new car tomorrow.",
    "Yesterday the children played in the garden.",
    "He did not eat the apple because he was not hungry.",
    "If it rains tomorrow, we will stay at home.",
    "I want to sleep.",
    "The man, the woman and the child are here.",
    "Can you help me, please?",
    "the dog is tired",
]
# One word of each language for another, all forms that training pairs hold; from the pilot's list
# and our own.
LEXICON = dict(
    pair.split(":")
    for pair in """
        Katze:cat Hund:dog Mann:man Frau:woman Kind:child Kinder:children Junge:boy
        Mädchen:girl Lehrer:teacher Arzt:doctor Vogel:bird Freund:friend Haus:house
        Buch:book Tisch:table Tür:door Fenster:window Apfel:apple Brief:letter Auto:car
        Baum:tree Garten:garden Bett:bed Küche:kitchen Wasser:water Kaffee:coffee
        morgen:tomorrow heute:today gestern:yesterday nie:never immer:always müde:tired
        neue:new neues:new alte:old alten:old rote:red weil:because hier:here nicht:not
        Schule:school Vater:father Mutter:mother Bruder:brother Schwester:sister Geld:money
        drei:three zwei:two essen:eat lesen:read schlafen:sleep gesehen:seen gekauft:bought
        kaufen:buy Tom:Tom Maria:Mary
    """.split()
)


def translate(model, tokenizer, texts, beams):
    out = []
    for i in range(0, len(texts), 50):
        batch = tokenizer(texts[i : i + 50], return_tensors="pt", padding=True)
        out += [
            tokenizer.decode(y, skip_special_tokens=True)
            for y in model.generate(**batch, num_beams=beams, max_length=96)
        ]
    return out


def aligned_shares(model, tokenizer, pairs):
    """Per layer and head: the share of known words whose row has its maximum on the right source
    word."""
    hits, count = 0, 0
    for english, german in pairs:
        source = tokenizer(english, return_tensors="pt").input_ids
        target = tokenizer(text_target=german, return_tensors="pt").input_ids
        given = torch.cat(
            [torch.tensor([[model.config.decoder_start_token_id]]), target[:, :-1]], 1
        )
        names = [tokenizer.convert_ids_to_tokens([i])[0] for i in source[0].tolist()]
        links = []
        for t, i in enumerate(target[0].tolist()):
            piece = tokenizer.convert_ids_to_tokens([i])[0]
            places = [
                k
                for k, n in enumerate(names)
                if piece[1:] in LEXICON and n.lower() == "▁" + LEXICON[piece[1:]].lower()
            ]
            if piece.startswith("▁") and len(places) == 1:
                links.append((t, places[0]))
        if not links:
            continue
        cross = torch.stack(
            model(
                input_ids=source, decoder_input_ids=given, output_attentions=True
            ).cross_attentions
        )[:, 0]
        for t, place in links:
            hits, count = hits + (cross[:, :, t].argmax(-1) == place).float(), count + 1
    return hits / count, count


def asked(kind, count, **how):
    rng = random.Random(17)
    return [kind(rng, True, **how) for _ in range(count)]


def pronoun(german):
    return re.search(r"weil (\w+) zu", german)


def copied(kind, pattern, translated):
    """The share of translations that hold everything that the pattern finds in the German
    original."""
    done = [
        all(word in out for word in re.findall(pattern, german))
        for out, (_, german) in zip(translated, kind)
    ]
    return sum(done) / len(done)


@torch.no_grad()
def it_to_noun(model, tokenizer, pairs):
    """[layers, heads]: mean weight of the encoder's heads from "it" on the noun that it stands for,
    and how often it is at least one half."""
    total, over = 0, 0
    for english, _ in pairs:
        ids = tokenizer(english, return_tensors="pt").input_ids
        it, noun = templates.it_and_noun(tokenizer.convert_ids_to_tokens(ids[0]), english)
        attention = torch.stack(model.model.encoder(ids, output_attentions=True).attentions)[:, 0]
        weights = attention[:, :, it, noun]
        total, over = total + weights, over + (weights >= 0.5).float()
    return total / len(pairs), over / len(pairs)


def best_head(table):
    at = int(table.argmax())
    return f"{at // table.shape[1]}.{at % table.shape[1]}", table.max().item()


def templates_right(model, tokenizer, count):
    """The questions of held-out texts of templates.py, as rows of (question, value, bar or
    None)."""
    tired, wide = (
        asked(templates.tired_or_wide, count, which="animal"),
        asked(templates.tired_or_wide, count, which="way"),
    )
    pairs, rows = tired + wide, []
    out = translate(model, tokenizer, [e for e, _ in pairs], 1)
    right = [bool(m := pronoun(o)) and m[1] == pronoun(g)[1] for o, (_, g) in zip(out, pairs)]
    rows.append(("it: er, sie, es right", sum(right) / len(right), IT_BAR))
    rows.append(
        (
            "it: whole sentence right",
            sum(o == g for o, (_, g) in zip(out, pairs)) / len(pairs),
            None,
        )
    )
    mean, over = it_to_noun(model, tokenizer, pairs)
    rows.append(
        (
            f'encoder head from "it" to its noun, mean weight of {best_head(mean)[0]}',
            best_head(mean)[1],
            HEAD_BAR,
        )
    )
    rows.append(
        (
            f"the same at least one half, share of sentences, {best_head(over)[0]}",
            best_head(over)[1],
            None,
        )
    )
    for kind, pattern in ((templates.number, r"\d+"), (templates.name, None)):
        pairs = asked(kind, count)
        out = translate(model, tokenizer, [e for e, _ in pairs], 1)
        # names: the words that both sides have, capitals in front, but no cities
        if pattern is None:
            names = [
                [
                    w
                    for w in re.findall(r"[A-Z]\w+", g)
                    if w in e and w not in dict(templates.CITIES).values()
                ]
                for e, g in pairs
            ]
            hits = [all(n in o for n in row) for row, o in zip(names, out)]
            rows.append(("names copied", sum(hits) / len(hits), COPIED_BAR))
        else:
            rows.append(("numbers copied", copied(pairs, pattern, out), COPIED_BAR))
    pairs = asked(templates.relative, count)
    out = translate(model, tokenizer, [e for e, _ in pairs], 1)
    rows.append(
        (
            "relative clauses, whole sentence right",
            sum(o == g for o, (_, g) in zip(out, pairs)) / len(pairs),
            None,
        )
    )
    return rows


@torch.no_grad()
def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folder", type=Path)
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--count", type=int, default=60, help="held-out texts of each kind")
    p.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    p.add_argument("--threads", type=int, default=2)
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    model = MarianMTModel.from_pretrained(
        a.folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    tokenizer = MarianTokenizer.from_pretrained(a.folder)
    lines = (a.data / "tatoeba_en_de_valid.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [tuple(line.split("\t")) for line in lines if "\t" in line]
    rows = []
    for beams in a.beams:
        out = translate(model, tokenizer, [e for e, _ in pairs], beams)
        bleu, chrf = (
            sacrebleu.corpus_bleu(out, [[d for _, d in pairs]]),
            sacrebleu.corpus_chrf(out, [[d for _, d in pairs]]),
        )
        if beams == 1:
            rows.append(("BLEU, greedy", round(bleu.score, 1), BLEU_BAR))
        print(f"beams {beams}: BLEU {bleu.score:.1f}, chrF {chrf.score:.1f} on {len(pairs)} pairs")
    shares, count = aligned_shares(model, tokenizer, pairs)
    best = [
        (shares.flatten()[i].item(), divmod(i, shares.shape[1]))
        for i in shares.flatten().topk(4).indices.tolist()
    ]
    print(
        f"alignment of {count} words: "
        + ", ".join(f"{layer}.{head} {share:.2f}" for share, (layer, head) in best)
        + "; layer means "
        + " ".join(f"{m:.2f}" for m in shares.mean(1))
    )
    for what, value, bar in rows + templates_right(model, tokenizer, a.count):
        print(
            (
                f"{'     ' if bar is None else 'meets' if value >= bar else 'FAILS'}  {what}: "
                f"{value:.2f}"
            )
            + (f" (bar {bar})" if bar else "")
        )
    for text, german in zip(PROBES, translate(model, tokenizer, PROBES, 1)):
        print(f"  {text}  ->  {german}")


if __name__ == "__main__":
    main()
