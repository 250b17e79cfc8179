#!/usr/bin/env python3
"""Measures a translator folder: BLEU and chrF (sacrebleu) on held-out pairs, greedy and with four beams, and which share of
content words the best heads of cross-attention align rightly.

    python models/translator/evaluate.py models/translator --data DIR

DIR holds tatoeba_en_de_valid.tsv, which training and the choice of weights never look at.
Needs torch, transformers, sentencepiece and sacrebleu.
"""
import argparse
from pathlib import Path

import sacrebleu
import torch
from transformers import MarianMTModel, MarianTokenizer

PROBES = ["The cat sat on the mat.", "I have never seen him.", "She wants to buy a new car.", "Where is the old book?",
          "My brother wants to buy a new car tomorrow.", "Yesterday the children played in the garden.",
          "He did not eat the apple because he was not hungry.", "If it rains tomorrow, we will stay at home.",
          "I want to sleep.", "The man, the woman and the child are here.", "Can you help me, please?", "the dog is tired"]
# One word of each language for another, all forms that training pairs hold; from the pilot's list and our own.
LEXICON = dict(line.split(":") for line in """Katze:cat|Hund:dog|Mann:man|Frau:woman|Kind:child|Kinder:children|Junge:boy
Mädchen:girl|Lehrer:teacher|Arzt:doctor|Vogel:bird|Freund:friend|Haus:house|Buch:book|Tisch:table|Tür:door|Fenster:window
Apfel:apple|Brief:letter|Auto:car|Baum:tree|Garten:garden|Bett:bed|Küche:kitchen|Wasser:water|Kaffee:coffee|morgen:tomorrow
heute:today|gestern:yesterday|nie:never|immer:always|müde:tired|neue:new|neues:new|alte:old|alten:old|rote:red|weil:because
hier:here|nicht:not|Schule:school|Vater:father|Mutter:mother|Bruder:brother|Schwester:sister|Geld:money|drei:three|zwei:two
essen:eat|lesen:read|schlafen:sleep|gesehen:seen|gekauft:bought|kaufen:buy|Tom:Tom|Maria:Mary""".replace("\n", "|").split("|"))


def translate(model, tokenizer, texts, beams):
    out = []
    for i in range(0, len(texts), 50):
        batch = tokenizer(texts[i:i + 50], return_tensors="pt", padding=True)
        out += [tokenizer.decode(y, skip_special_tokens=True) for y in model.generate(**batch, num_beams=beams, max_length=96)]
    return out


def aligned_shares(model, tokenizer, pairs):
    """Per layer and head: the share of known words whose row has its maximum on the right source word."""
    hits, count = 0, 0
    for english, german in pairs:
        source = tokenizer(english, return_tensors="pt").input_ids
        target = tokenizer(text_target=german, return_tensors="pt").input_ids
        given = torch.cat([torch.tensor([[model.config.decoder_start_token_id]]), target[:, :-1]], 1)
        names = [tokenizer.convert_ids_to_tokens([i])[0] for i in source[0].tolist()]
        links = []
        for t, i in enumerate(target[0].tolist()):
            piece = tokenizer.convert_ids_to_tokens([i])[0]
            places = [k for k, n in enumerate(names) if piece[1:] in LEXICON and n.lower() == "▁" + LEXICON[piece[1:]].lower()]
            if piece.startswith("▁") and len(places) == 1:
                links.append((t, places[0]))
        if not links:
            continue
        cross = torch.stack(model(input_ids=source, decoder_input_ids=given, output_attentions=True).cross_attentions)[:, 0]
        for t, place in links:
            hits, count = hits + (cross[:, :, t].argmax(-1) == place).float(), count + 1
    return hits / count, count


@torch.no_grad()
def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path)
    p.add_argument("--data", type=Path, required=True)
    a = p.parse_args()
    torch.set_num_threads(2)
    model = MarianMTModel.from_pretrained(a.folder, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = MarianTokenizer.from_pretrained(a.folder)
    lines = (a.data / "tatoeba_en_de_valid.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [tuple(line.split("\t")) for line in lines if "\t" in line]
    for beams in (1, 4):
        out = translate(model, tokenizer, [e for e, _ in pairs], beams)
        bleu, chrf = sacrebleu.corpus_bleu(out, [[d for _, d in pairs]]), sacrebleu.corpus_chrf(out, [[d for _, d in pairs]])
        print(f"beams {beams}: BLEU {bleu.score:.1f}, chrF {chrf.score:.1f} on {len(pairs)} pairs")
    shares, count = aligned_shares(model, tokenizer, pairs)
    best = [(shares.flatten()[i].item(), divmod(i, shares.shape[1])) for i in shares.flatten().topk(4).indices.tolist()]
    print(f"alignment of {count} words: " + ", ".join(f"{layer}.{head} {share:.2f}" for share, (layer, head) in best)
          + "; layer means " + " ".join(f"{m:.2f}" for m in shares.mean(1)))
    for text, german in zip(PROBES, translate(model, tokenizer, PROBES, 1)):
        print(f"  {text}  ->  {german}")


if __name__ == "__main__":
    main()
