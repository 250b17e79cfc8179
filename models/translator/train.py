#!/usr/bin/env python3
"""Train Headlight's built-in translator: English to German, the encoder and decoder of "Attention
Is All You Need" (norm after each block, sinusoidal positions, one table of embeddings for source,
target and output).

    python models/translator/train.py --data DIR --out models/translator --minutes 100
    python models/translator/train.py --data DIR --continue-from OLD --teacher OLD --out NEW --lr
    3e-4 --minutes 12 --state NEW.pt

DIR holds tatoeba_en_de_train.tsv, tatoeba_en_de_valid.tsv and templates_en_de.tsv (English, tab,
German). The folder written holds the average of the weights with the best validation loss, its
folder "last" that at the end; both load with transformers (MarianMTModel, MarianTokenizer), and
with Headlight.
README.md beside this file says where the text comes from and what a run reached; evaluate.py
measures it.

Needs torch, transformers, tokenizers and sentencepiece.
"""

import argparse
import json
import math
import random
import re
import shutil
import time
from pathlib import Path

import numpy as np
import sentencepiece
import templates
import torch
import torch.nn.functional as F
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer

LAYERS, HEADS, WIDTH, HIDDEN, VOCAB, POSITIONS = 3, 8, 256, 1024, 6000, 128
TOKENIZER = ("source.spm", "target.spm", "vocab.json", "tokenizer.json", "tokenizer_config.json")
IT_LAYER, IT_HEAD = 2, 5  # the encoder head that --pronoun-head trains
# Marian's order: </s>, <unk>, ..., <pad>; the decoder starts from <pad>
END, UNKNOWN, PAD = (0, 1, VOCAB - 1)
NAMES = {
    "Tom": (r"\bTom\b", ["Ben", "Paul", "Peter", "David", "John", "Tim", "Jack"]),
    "Mary": (r"\bMar(?:ia|y)\b", ["Anna", "Lily", "Lucy", "Emma", "Sarah", "Alice", "Mia"]),
}


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--data", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument(
        "--minutes",
        type=float,
        default=100,
        help="processor minutes per thread; the schedule follows them",
    )
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--tokens", type=int, default=1200, help="target tokens in a batch")
    p.add_argument("--lr", type=float, default=1.2e-3)
    p.add_argument("--dropout", type=float, default=0.15)
    p.add_argument("--smoothing", type=float, default=0.1)
    p.add_argument(
        "--resplit",
        type=float,
        default=0.25,
        help="share of sources split at random among the likely ways",
    )
    p.add_argument(
        "--joined", type=float, default=0.1, help="share of pairs that get a second pair appended"
    )
    p.add_argument(
        "--templates",
        type=float,
        default=0.25,
        help="pairs of templates.py, new in each epoch, per other pair",
    )
    p.add_argument(
        "--pronoun-head",
        type=float,
        default=0.1,
        help='weight of the loss that lets one encoder head look from "it" to its noun',
    )
    p.add_argument(
        "--teacher",
        type=Path,
        help=(
            "on pairs that are no templates, stay near what the model of this folder predicts "
            "(Li and Hoiem 2016)"
        ),
    )
    p.add_argument(
        "--kept",
        type=float,
        default=0.7,
        help="weight of the teacher's part of the loss on these pairs",
    )
    p.add_argument("--every", type=int, default=500, help="steps from one validation to the next")
    p.add_argument(
        "--continue-from",
        type=Path,
        help="train this folder's weights further, with its tokenizer; --out may not be it",
    )
    p.add_argument(
        "--state",
        type=Path,
        help="a file that keeps the run: started again with it, it goes on where it was",
    )
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def read_pairs(path):
    return [
        tuple(line.split("\t"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if "\t" in line
    ]


def split_data(data, rng):
    """Training pairs and pairs that choose the weights: 400 of Tatoeba, 200 of the templates (whose
    first 500 are held out). Every pair with a held-out English side leaves the training set;
    tatoeba_en_de_valid.tsv is not looked at."""
    tatoeba, templates = (
        read_pairs(data / "tatoeba_en_de_train.tsv"),
        read_pairs(data / "templates_en_de.tsv"),
    )
    chosen = [tatoeba[i] for i in rng.permutation(len(tatoeba))[:400]]
    held_out = {english for english, _ in chosen + templates[:500]}
    return [p for p in tatoeba + templates if p[0] not in held_out], chosen + templates[:200]


def varied(pair, rng):
    """Half of the Toms and Maries get another name, so that names are copied, not memorised; one
    sentence in twelve loses its final mark, one source in twelve its capital, as in typed text."""
    english, german = pair
    for name, (german_name, others) in NAMES.items():
        count = len(re.findall(rf"\b{name}\b", english))
        if count and rng.random() < 0.5 and count == len(re.findall(german_name, german)):
            other = rng.choice(others)
            english, german = (
                re.sub(rf"\b{name}\b", other, english),
                re.sub(german_name, other, german),
            )
    if rng.random() < 1 / 12 and english[-1] in ".!?" and german[-1] == english[-1]:
        english, german = english[:-1], german[:-1]
    if rng.random() < 1 / 12:
        english = english[0].lower() + english[1:]
    return english, german


def train_tokenizer(pairs, out, threads):
    """One unigram model for both languages, saved as Marian's pair of files, vocab.json and one
    tokenizer.json."""
    corpus, prefix = out / "corpus.txt", str(out / "source")
    corpus.write_text("\n".join(text for pair in pairs for text in pair), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=prefix,
        vocab_size=VOCAB - 1,
        model_type="unigram",
        character_coverage=1.0,
        bos_id=-1,
        pad_id=-1,
        eos_id=END,
        unk_id=UNKNOWN,
        eos_piece="</s>",
        unk_piece="<unk>",
        minloglevel=2,
        num_threads=threads,
    )
    corpus.unlink()
    (out / "source.vocab").unlink()
    (out / "source.model").rename(out / "source.spm")
    (out / "target.spm").write_bytes((out / "source.spm").read_bytes())
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(out / "source.spm"))
    table = {pieces.id_to_piece(i): i for i in range(VOCAB - 1)} | {"<pad>": PAD}
    (out / "vocab.json").write_text(
        json.dumps(table, ensure_ascii=False, indent=0), encoding="utf-8"
    )
    marian = MarianTokenizer(
        source_spm=str(out / "source.spm"),
        target_spm=str(out / "target.spm"),
        vocab=str(out / "vocab.json"),
        source_lang="en",
        target_lang="de",
        model_max_length=POSITIONS,
    )
    marian.save_pretrained(out)
    write_tokenizer_json(pieces, out)
    return pieces


def write_tokenizer_json(pieces, out):
    scores = [(pieces.id_to_piece(i), pieces.get_score(i)) for i in range(VOCAB - 1)] + [
        ("<pad>", 0.0)
    ]
    tok = Tokenizer(models.Unigram(scores, unk_id=UNKNOWN))
    tok.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    )
    tok.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tok.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tok.add_special_tokens([AddedToken(t, special=True) for t in ("</s>", "<unk>", "<pad>")])
    tok.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", END)]
    )
    tok.save(str(out / "tokenizer.json"))


def up(length, step=4):
    """Few different shapes: a kernel is prepared once for each."""
    return -(-length // step) * step


def collate(pairs):
    """Source ids, decoder input (the target shifted right, <pad> first), labels (-100 where there
    is none), and rows of (pair, place of "it", place of its noun), and which pairs hold no
    template."""
    m, n = (up(max(len(p[side]) for p in pairs) + 1) for side in (0, 1))
    source, given = np.full((len(pairs), m), PAD), np.full((len(pairs), n), PAD)
    labels = np.full((len(pairs), n), -100)
    for row, (x, y, *_) in enumerate(pairs):
        source[row, : len(x) + 1] = [*x, END]
        given[row, 1 : len(y) + 1] = y
        labels[row, : len(y) + 1] = [*y, END]
    links = [(row, *pair[2]) for row, pair in enumerate(pairs) if len(pair) > 2 and pair[2]]
    free = torch.tensor([len(pair) > 3 and pair[3] for pair in pairs])
    return (*(torch.from_numpy(t) for t in (source, given, labels)), links, free)


class Batches:
    """Epoch after epoch: pairs varied, split and joined again, in batches of like length."""

    def __init__(self, pairs, pieces, a):
        self.pairs, self.pieces, self.a = pairs, pieces, a
        self.rng, self.queue, self.epoch, self.seen = random.Random(a.seed), [], 0, 0

    def encoded(self):
        more = [templates.pair(self.rng) for _ in range(round(self.a.templates * len(self.pairs)))]
        pairs = [varied(p, self.rng) for p in self.pairs] + more
        source, target = (self.pieces.encode([p[side] for p in pairs]) for side in (0, 1))
        again = [i for i in range(len(pairs)) if self.rng.random() < self.a.resplit]
        sampled = self.pieces.encode(
            [pairs[i][0] for i in again], enable_sampling=True, alpha=0.3, nbest_size=-1
        )
        for i, ids in zip(again, sampled):
            source[i] = ids
        links = [None] * len(self.pairs) + [
            templates.it_and_noun(self.pieces.id_to_piece(source[i]), pairs[i][0])
            for i in range(len(self.pairs), len(pairs))
        ]
        rows = list(zip(source, target, links, [i < len(self.pairs) for i in range(len(pairs))]))
        self.rng.shuffle(rows)
        return rows

    def joined(self, rows):
        rows = iter(rows)
        for x, y, link, free in rows:
            other = next(rows, None) if self.rng.random() < self.a.joined else None
            pair = (
                (x + other[0], y + other[1], link, free and other[3])
                if other
                else (x, y, link, free)
            )
            if max(map(len, pair[:2])) < POSITIONS - 4:
                yield pair

    def fill(self):
        rows = sorted(
            self.joined(self.encoded()),
            key=lambda p: (up(len(p[1]) + 1), len(p[0]) + 3 * self.rng.random()),
        )
        batch = []
        for pair in rows:
            length = up(len(batch[0][1]) + 1) if batch else 0
            if batch and (
                up(len(pair[1]) + 1) != length or len(batch) >= self.a.tokens // length // 8 * 8
            ):
                self.queue.append(batch)
                batch = []
            batch.append(pair)
        self.queue.append(batch)
        self.rng.shuffle(self.queue)
        self.epoch += 1

    def next(self):
        if not self.queue:
            self.fill()
        batch = self.queue.pop()
        self.seen += len(batch)
        return collate(batch)


def make_model(dropout):
    config = MarianConfig(
        vocab_size=VOCAB,
        decoder_vocab_size=VOCAB,
        d_model=WIDTH,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=HIDDEN,
        decoder_ffn_dim=HIDDEN,
        activation_function="relu",
        dropout=dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        max_position_embeddings=POSITIONS,
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        pad_token_id=PAD,
        eos_token_id=END,
        bos_token_id=None,
        forced_eos_token_id=END,
        decoder_start_token_id=PAD,
    )
    config._attn_implementation = (
        "eager"  # on a processor faster than fused attention for sentences so short
    )
    model = MarianMTModel(config)
    model.generation_config = GenerationConfig(
        decoder_start_token_id=PAD,
        pad_token_id=PAD,
        eos_token_id=END,
        forced_eos_token_id=END,
        bad_words_ids=[[PAD]],
        max_length=96,
        num_beams=1,
    )
    # Marian's initial values; a deviation of 0.02 is too small for this width
    for name, p in model.named_parameters():
        if p.ndim == 2 and "embed_positions" not in name:
            is_table = "shared" in name or "embed_tokens" in name
            torch.nn.init.normal_(
                p, std=WIDTH**-0.5
            ) if is_table else torch.nn.init.xavier_uniform_(p)
    return model


def make_optimizer(model, lr):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    is_matrix = lambda n, p: p.ndim == 2 and "shared" not in n and "embed" not in n
    return torch.optim.AdamW(
        [
            dict(params=[p for n, p in named if is_matrix(n, p)], weight_decay=0.01),
            dict(params=[p for n, p in named if not is_matrix(n, p)], weight_decay=0.0),
        ],
        lr=lr,
        betas=(0.9, 0.98),
        eps=1e-9,
        fused=True,
    )


def logits_of(model, batch, with_attention=False):
    """Logits where there is something to predict, [known, vocab], and the encoder's attention."""
    source, given, labels = batch[:3]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model.model(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            decoder_input_ids=given,
            output_attentions=with_attention,
        )
        return F.linear(
            out.last_hidden_state[labels != -100], model.lm_head.weight
        ).float(), out.encoder_attentions


def loss_of(model, batch):
    return F.cross_entropy(logits_of(model, batch)[0], batch[2][batch[2] != -100])


def training_loss(model, teacher, batch, a):
    """The next token's; on pairs that are no templates also the distance to what the teacher
    predicts; of the sentences in which "it" stands for a noun, that of one head's weight on it."""
    source, _, labels, links, free = batch
    known = labels != -100
    logits, attention = logits_of(model, batch, bool(links) and a.pronoun_head > 0)
    loss = F.cross_entropy(logits, labels[known], label_smoothing=a.smoothing, reduction="none")
    if teacher is not None:
        with torch.no_grad():
            wanted = logits_of(teacher, batch)[0].log_softmax(1)
        far = F.kl_div(logits.log_softmax(1), wanted, reduction="none", log_target=True).sum(1)
        kept = a.kept * free[:, None].expand_as(labels)[known].float()
        loss = (1 - kept) * loss + kept * far
    total = loss.mean()
    if links and a.pronoun_head > 0:
        row, it, noun = torch.tensor(links).T
        weights = attention[IT_LAYER][row, IT_HEAD, it, noun]
        total = (
            total
            - a.pronoun_head
            * len(links)
            / len(source)
            * weights.float().clamp_min(1e-6).log().mean()
        )
    return total


class Average:
    """An exponential average of the weights over about a thousand steps: what is validated and
    saved."""

    def __init__(self, model):
        self.live = [p for p in model.parameters() if p.requires_grad]
        self.mean = [p.detach().clone() for p in self.live]
        self.steps = 0

    @torch.no_grad()
    def update(self):
        self.steps += 1
        torch._foreach_lerp_(
            self.mean,
            [p.detach() for p in self.live],
            1 - min(0.999, self.steps / (self.steps + 10)),
        )

    @torch.no_grad()
    def swap(self):
        for p, mean in zip(self.live, self.mean):
            kept = p.detach().clone()
            p.copy_(mean)
            mean.copy_(kept)


@torch.no_grad()
def evaluate(model, rows):
    """Loss per target token, no smoothing, batches of 50."""
    model.eval()
    total = count = 0
    for i in range(0, len(rows), 50):
        batch = collate(rows[i : i + 50])
        n = int((batch[2] != -100).sum())
        total, count = total + loss_of(model, batch).item() * n, count + n
    model.train()
    return total / count


def save(model, out):
    half = MarianMTModel(model.config)
    half.load_state_dict(model.state_dict())
    half.generation_config = model.generation_config
    half.half().save_pretrained(out)


class Run:
    """The state of a training: weights, their average, the optimizer, draws and minutes, in a file
    where one was named. An epoch that was not at its end begins again."""

    def __init__(self, model, batches, a):
        self.model, self.batches, self.path = model, batches, a.state
        self.optimizer, self.average = make_optimizer(model, a.lr), Average(model)
        self.step, self.minutes, self.best = 0, 0.0, math.inf
        if self.path and self.path.exists():
            state = torch.load(self.path, weights_only=False)
            model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.average.mean, self.average.steps = state["mean"], state["step"]
            batches.rng.setstate(state["random"])
            self.step, self.minutes, self.best = state["step"], state["minutes"], state["best"]

    def save(self):
        if self.path:
            part = self.path.with_suffix(".part")
            torch.save(
                dict(
                    model=self.model.state_dict(),
                    optimizer=self.optimizer.state_dict(),
                    mean=self.average.mean,
                    random=self.batches.rng.getstate(),
                    step=self.step,
                    minutes=self.minutes,
                    best=self.best,
                ),
                part,
            )
            part.rename(self.path)


def train(model, teacher, batches, chosen, a):
    """Warm-up, then cosine to 3 %; the average with the best validation loss is kept."""
    run, recent = Run(model, batches, a), []
    before, start = run.minutes, time.process_time()
    while run.minutes < a.minutes:
        factor = min(1, (run.step + 1) / 300) * (
            0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * run.minutes / a.minutes))
        )
        for group in run.optimizer.param_groups:
            group["lr"] = a.lr * factor
        loss = training_loss(model, teacher, batches.next(), a)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        run.optimizer.step()
        run.optimizer.zero_grad(set_to_none=True)
        run.average.update()
        recent.append(loss.item())
        run.step += 1
        run.minutes = before + (time.process_time() - start) / a.threads / 60
        if run.step % a.every == 0:
            run.best = checkpoint(model, run.average, chosen, run.best, a.out)
            run.save()
            print(
                f"{run.minutes:5.1f} min step {run.step} epoch {batches.epoch} "
                f"{batches.seen / 1e3:.0f} k pairs, "
                f"train {np.mean(recent[-200:]):.3f} best {run.best:.3f}",
                flush=True,
            )
    run.best = checkpoint(model, run.average, chosen, run.best, a.out)
    run.save()
    run.average.swap()
    save(model, a.out / "last")
    for name in TOKENIZER:
        shutil.copy(a.out / name, a.out / "last" / name)
    print(f"end: {run.step} steps, {batches.seen / 1e6:.2f} M pairs, best {run.best:.3f}")


def checkpoint(model, average, chosen, best, out):
    average.swap()
    losses = [evaluate(model, part) for part in (chosen[:400], chosen[400:])]
    print(f"      valid Tatoeba {losses[0]:.3f} templates {losses[1]:.3f}", flush=True)
    if sum(losses) < best:
        save(model, out)
    average.swap()
    return min(best, sum(losses))


def open_tokenizer(pairs, a):
    """A new one, or that of the folder whose weights are trained further."""
    if not a.continue_from:
        rng = random.Random(a.seed)
        more = [templates.pair(rng) for _ in range(round(a.templates * len(pairs)))]
        return train_tokenizer([varied(p, rng) for p in pairs] + more, a.out, a.threads)
    for name in TOKENIZER:
        shutil.copy(a.continue_from / name, a.out / name)
    return sentencepiece.SentencePieceProcessor(model_file=str(a.out / "source.spm"))


def main():
    a = arguments()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    a.out.mkdir(parents=True, exist_ok=True)
    pairs, chosen = split_data(a.data, np.random.default_rng(a.seed))
    pieces = open_tokenizer(pairs, a)
    sentencepiece.set_random_generator_seed(a.seed)
    chosen = list(zip(pieces.encode([p[0] for p in chosen]), pieces.encode([p[1] for p in chosen])))
    model = make_model(a.dropout)
    if a.continue_from:
        known = MarianMTModel.from_pretrained(a.continue_from, dtype=torch.float32).state_dict()
        model.load_state_dict(known)
    count = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{len(pairs)} pairs, {count / 1e6:.2f} M trained parameters", flush=True)
    teacher = (
        MarianMTModel.from_pretrained(
            a.teacher, dtype=torch.float32, attn_implementation="eager"
        ).eval()
        if a.teacher
        else None
    )
    train(model, teacher, Batches(pairs, pieces, a), chosen, a)


if __name__ == "__main__":
    main()
