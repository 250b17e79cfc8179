#!/usr/bin/env python3
"""Measure translator folders, one column each, and print the table of the card.

    python models/translator/evaluate.py models/translator --data DIR
    python models/translator/evaluate.py OLD NEW --data DIR --out table.txt --said said.txt

- BLEU and chrF (sacrebleu) on the 600 held-out pairs; chrF on the 100 everyday sentences of
  everyday.tsv, two German versions each;
- the questions of held_out.tsv and of combinations of words that templates.py holds out: whether
  names, times, dates and decimals are copied, "it" becomes er, sie or es rightly, relative clauses
  are right;
- how often the row of a German word, in the mean of the heads of the last cross-attention, has its
  maximum on the English word that it translates: 60 words of held_out.tsv, and the words of LEXICON
  in the 600 pairs, the best heads and the layers beside it;
- which encoder head looks from "it" to its noun.

DIR holds tatoeba_en_de_valid.tsv, which training and the choice of a checkpoint never look at.
Needs torch, transformers, sentencepiece and sacrebleu.
"""

import argparse
import json
import random
import re
from pathlib import Path

import align
import sacrebleu
import templates
import torch
from transformers import MarianMTModel, MarianTokenizer

BARS = {
    "BLEU, 600 pairs, greedy": 31.8,
    "copies, all": 0.9,
    "copies, held-out combinations": 0.9,
    "pronouns, all": 0.95,
    "relative clauses, all": 0.8,
    "Attention is all you need.": 1.0,
    "alignment, 60 words, mean of the last layer": 0.95,
    'encoder head from "it" to its noun, mean weight': 0.5,
}
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


class Translator:
    """A folder, and what it said to each sentence, greedily and with four beams."""

    def __init__(self, folder, device):
        self.model = MarianMTModel.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager"
        )
        self.model.to(device).eval()
        self.tokenizer, self.device, self.said = MarianTokenizer.from_pretrained(folder), device, {}

    def translate(self, texts, beams=1):
        """All texts, in batches of like length."""
        new = sorted({t for t in texts if (t, beams) not in self.said}, key=len)
        size = 256 if self.device.type == "cuda" else 50
        for i in range(0, len(new), size):
            batch = self.tokenizer(new[i : i + size], return_tensors="pt", padding=True)
            batch = batch.to(self.device)
            out = self.model.generate(**batch, num_beams=beams, max_length=96)
            for text, ids in zip(new[i : i + size], out):
                self.said[text, beams] = self.tokenizer.decode(ids, skip_special_tokens=True)
        return [self.said[t, beams] for t in texts]

    def cross_attention(self, english, german):
        """[layers, heads, target, source] for the German given, and both sides' pieces."""
        source = self.tokenizer(english, return_tensors="pt").input_ids
        target = self.tokenizer(text_target=german, return_tensors="pt").input_ids
        begin = torch.tensor([[self.model.config.decoder_start_token_id]])
        out = self.model(
            input_ids=source.to(self.device),
            decoder_input_ids=torch.cat([begin, target[:, :-1]], 1).to(self.device),
            output_attentions=True,
        )
        names = [self.tokenizer.convert_ids_to_tokens(ids[0].tolist()) for ids in (source, target)]
        return torch.stack(out.cross_attentions)[:, 0].cpu(), *names


def aligned_shares(translator, pairs):
    """Per layer and head, and of each layer's mean: the share of words of LEXICON whose row has its
    maximum on the right source word."""
    hits, mean_hits, count = 0, 0, 0
    for english, german in pairs:
        if not any(w in LEXICON for w in re.findall(r"\w+", german)):
            continue
        cross, source, target = translator.cross_attention(english, german)
        for t, piece in enumerate(target):
            wanted = "▁" + LEXICON.get(piece[1:], "").lower()
            places = [k for k, n in enumerate(source) if n.lower() == wanted]
            if piece.startswith("▁") and piece[1:] in LEXICON and len(places) == 1:
                hits = hits + (cross[:, :, t].argmax(-1) == places[0]).float()
                mean_hits = mean_hits + (cross[:, :, t].mean(1).argmax(-1) == places[0]).float()
                count += 1
    return hits / count, mean_hits / count, count


def aligned(translator):
    """The 60 words: the share whose first row looks at the right word, and the wrong ones."""
    right, wrong = 0, []
    for _, english, german, linked in (q for q in templates.QUESTIONS if q[0] == "align"):
        cross, source, target = translator.cross_attention(english, german)
        mean = cross[-1].mean(0)
        at = [align.spans(p[:-1]) for p in (source, target)]
        for pair in linked.split():
            places = []
            for text, word, spans in zip((german, english), pair.split(":"), (at[1], at[0])):
                begin = re.search(rf"\b{word}\b", text).start()
                places.append(align.pieces_of((begin, begin + len(word)), spans))
            (row, _), (first, end) = places
            best = int(mean[row].argmax())
            right += first <= best < end
            if not first <= best < end:
                wrong.append(f"{pair} → {source[best]}")
    return right / (right + len(wrong)), wrong


def asked(kind, count, **how):
    rng = random.Random(17)
    return [kind(rng, True, **how) for _ in range(count)]


def pronouns(german):
    return re.findall(r"\b(?:er|sie|es|ihn)\b", german.lower())


def relatives(german):
    """Relative pronouns after a comma, with the preposition before them."""
    return re.findall(r", (?:\w+ )?(?:der|die|das|dem|den|denen|dessen|deren)\b", german)


def holds(kind, wanted, said):
    if kind == "name":
        return all(re.search(rf"\b{w}\b", said) for w in wanted.split())
    if kind in ("time", "date", "decimal"):
        return any(re.search(rf"(?<![\d.,]){re.escape(w)}(?!\d)", said) for w in wanted.split("|"))
    return bool(re.search(wanted, said))


def copied(english, german, said):
    """Whether all numbers of the German and all names that both languages share are there."""
    words = re.findall(r"\d[\d.,:-]*\d|\d", german)
    known = set(dict(templates.CITIES).values()) | set(templates.NAMES)
    shared = set(re.findall(r"\w+", english))
    words += [w for w in re.findall(r"[A-ZÄÖÜ]\w+", german) if w in shared and w not in known]
    return all(w in said for w in words)


@torch.no_grad()
def it_to_noun(translator, pairs):
    """[layers, heads]: mean weight of the encoder's heads from "it" on the noun that it stands for,
    and how often it is at least one half."""
    total, over = 0, 0
    tokenizer, model = translator.tokenizer, translator.model
    for english, _ in pairs:
        ids = tokenizer(english, return_tensors="pt").input_ids
        it, noun = templates.it_and_noun(tokenizer.convert_ids_to_tokens(ids[0]), english)
        out = model.model.encoder(ids.to(translator.device), output_attentions=True)
        weights = torch.stack(out.attentions)[:, 0, :, it, noun].cpu()
        total, over = total + weights, over + (weights >= 0.5).float()
    return total / len(pairs), over / len(pairs)


def best_head(table):
    at = int(table.argmax())
    return f"{at // table.shape[1]}.{at % table.shape[1]}", table.max().item()


def mean(values):
    return sum(values) / len(values)


@torch.no_grad()
def measured(folder, pairs, count, beams, device):
    """Rows (question, value) and the translations that were asked, wrong ones marked."""
    translator, rows, said = Translator(folder, device), {}, []
    english, german = [e for e, _ in pairs], [d for _, d in pairs]
    for n in beams:
        out = translator.translate(english, n)
        how = "greedy" if n == 1 else f"{n} beams"
        rows[f"BLEU, 600 pairs, {how}"] = sacrebleu.corpus_bleu(out, [german]).score
        rows[f"chrF, 600 pairs, {how}"] = sacrebleu.corpus_chrf(out, [german]).score
    daily = templates.everyday()
    out = translator.translate([d[0] for d in daily])
    references = [[d[k] for d in daily] for k in (1, 2)]
    rows["chrF, 100 everyday sentences"] = sacrebleu.corpus_chrf(out, references).score
    rows["BLEU, 100 everyday sentences"] = sacrebleu.corpus_bleu(out, references).score
    rows["everyday sentences as one of the two"] = mean([o in d[1:] for o, d in zip(out, daily)])
    said += [f"  everyday  {d[0]} -> {o}" for o, d in zip(out, daily)]
    questions = [q for q in templates.QUESTIONS if q[0] not in ("align",)]
    right = {}
    for (kind, text, wanted), out in zip(
        questions, translator.translate([q[1] for q in questions])
    ):
        right.setdefault(kind, []).append(holds(kind, wanted, out))
        said.append(f"{'  ' if right[kind][-1] else 'X '}{kind}  {text} -> {out}")
    copies = [right[k] for k in ("name", "time", "date", "decimal")]
    for kind in ("name", "time", "date", "decimal"):
        rows[f"copies, {kind}s, our list"] = mean(right[kind])
    rows["copies, our list"] = mean(sum(copies, []))
    kinds = (templates.number, templates.name, templates.clock, templates.date, templates.decimal)
    drawn = [pair for kind in kinds for pair in asked(kind, count)]
    out = translator.translate([e for e, _ in drawn])
    hits = [copied(*pair, o) for pair, o in zip(drawn, out)]
    said += [f"X copy  {p[0]} -> {o}" for p, o, hit in zip(drawn, out, hits) if not hit]
    rows["copies, held-out combinations"] = mean(hits)
    rows["copies, all"] = mean(sum(copies, []) + hits)
    tired = [p for w in ("animal", "way") for p in asked(templates.tired_or_wide, count, which=w)]
    drawn = tired + asked(templates.it, count) + asked(templates.it_again, 2 * count)
    out = translator.translate([e for e, _ in drawn])
    hits = [pronouns(o) == pronouns(g) for (_, g), o in zip(drawn, out)]
    said += [f"X pronoun  {p[0]} -> {o}" for p, o, hit in zip(drawn, out, hits) if not hit]
    rows["pronouns, our list"] = mean(right["pronoun"])
    rows['pronouns, "too tired", "too wide"'] = mean(hits[: len(tired)])
    rows["pronouns, other held-out combinations"] = mean(hits[len(tired) :])
    rows["pronouns, all"] = mean(right["pronoun"] + hits)
    rows["relative clauses, our list"] = mean(right["relative"])
    drawn = asked(templates.relative, count) + asked(templates.relative_of_grammar, 2 * count)
    out = translator.translate([e for e, _ in drawn])
    hits = [relatives(o) == relatives(g) for (_, g), o in zip(drawn, out)]
    said += [f"X relative  {p[0]} -> {o}" for p, o, hit in zip(drawn, out, hits) if not hit]
    rows["relative pronouns, held-out combinations"] = mean(hits)
    rows["relative clauses word for word, the same"] = mean(
        [o == g for (_, g), o in zip(drawn, out)]
    )
    rows["relative clauses, all"] = mean(right["relative"] + hits)
    rows["Attention is all you need."] = mean(right["need"])
    share, wrong = aligned(translator)
    rows["alignment, 60 words, mean of the last layer"] = share
    said += [f"X align  {w}" for w in wrong]
    heads, layers, words = aligned_shares(translator, pairs)
    rows[f"alignment, {words} words, mean of the last layer"] = layers[-1].item()
    rows[f"alignment, {words} words, best head"] = heads.max().item()
    weights, over = it_to_noun(translator, tired)
    rows['encoder head from "it" to its noun, mean weight'] = weights.max().item()
    rows["the same at least one half, share of sentences"] = over.max().item()
    said.append(f"  heads  cross {best_head(heads)}, it {best_head(weights)}, {best_head(over)}")
    said.append("  layers' means  " + " ".join(f"{m:.2f}" for m in layers))
    said += [f"  probe  {t} -> {o}" for t, o in zip(PROBES, translator.translate(PROBES))]
    said += [f"  600  {e} -> {o}" for e, o in zip(english[:40], translator.translate(english[:40]))]
    return rows, said


def table(columns):
    """Markdown: one row for each question, one column for each folder."""
    names = list(columns)
    lines = ["| | bar | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for what in columns[names[0]]:
        bar, cells = BARS.get(what), []
        for name in names:
            value = columns[name].get(what, float("nan"))
            text = f"{value:.1f}" if value > 1.001 else f"{100 * value:.0f} %"
            rounded = round(value, 1) if value > 1.001 else value
            cells.append(f"{text} FAILS" if bar is not None and rounded < bar else text)
        sign = "" if bar is None else f"{bar:.1f}" if bar > 1.001 else f"{100 * bar:.0f} %"
        lines.append(f"| {what} | {sign} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def worth(rows):
    """Bars met, then how much of each is reached, BLEU and everyday chrF beside them."""
    met = sum((round(rows[w], 1) if b > 1.001 else rows[w]) >= b for w, b in BARS.items())
    near = sum(min(1, rows[w] / b) for w, b in BARS.items())
    return met, near + (rows["BLEU, 600 pairs, greedy"] + rows["chrF, 100 everyday sentences"]) / 50


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folders", type=Path, nargs="+")
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--count", type=int, default=60, help="held-out texts of each kind")
    p.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--out", type=Path, help="a file for the table")
    p.add_argument("--said", type=Path, help="a file for the translations, X before wrong ones")
    p.add_argument("--json", type=Path, help="numbers kept from folder to folder, and read again")
    p.add_argument("--best", type=Path, help="a file for the name of the best folder")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    lines = (a.data / "tatoeba_en_de_valid.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [tuple(line.split("\t")) for line in lines if "\t" in line]
    columns = {}
    if a.json and a.json.exists():
        columns = json.loads(a.json.read_text())
    for folder in a.folders:
        if str(folder) in columns:
            continue
        columns[str(folder)], said = measured(folder, pairs, a.count, a.beams, device)
        if a.said:
            with a.said.open("a", encoding="utf-8") as file:
                file.write("\n".join([f"# {folder}", *said, ""]))
        if a.json:
            a.json.write_text(json.dumps(columns, indent=1))
    text = table(columns)
    print(text)
    if a.out:
        a.out.write_text(text + "\n", encoding="utf-8")
    if a.best:
        a.best.write_text(max((str(f) for f in a.folders), key=lambda f: worth(columns[f])))


if __name__ == "__main__":
    main()
