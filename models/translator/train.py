#!/usr/bin/env python3
r"""Train Headlight's built-in translator: English to German, the encoder and decoder of "Attention
Is All You Need" (norm after each block, sinusoidal positions, one table of embeddings for source,
target and output).

    python models/translator/train.py --data DIR --continue-from OLD --pool POOL --draws 16
    python models/translator/train.py --data DIR --continue-from OLD --pool POOL --out NEW \
        --teacher OLD --lr 7e-4 --minutes 5 --tokens 12000

The first line draws the pairs, splits them into pieces and links their words, once for all runs
(all processors); the second trains on them, on a GPU where there is one. --scratch begins with new
weights and keeps the vocabulary.

DIR holds tatoeba_en_de_train.tsv, tatoeba_en_de_valid.tsv and templates_en_de.tsv (English, tab,
German). The folder written holds the average of the weights with the best validation loss, its
folder "last" that at the end; both load with transformers (MarianMTModel, MarianTokenizer), and
with Headlight.
README.md beside this file says where the text comes from and what a run reached; evaluate.py
measures it.

Needs torch, transformers, tokenizers and sentencepiece.
"""

import argparse
import itertools
import json
import math
import multiprocessing
import os
import random
import re
import shutil
import time
from pathlib import Path

import align
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

LAYERS, HEADS, WIDTH, VOCAB, POSITIONS = 3, 8, 256, 6000, 128
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
    p.add_argument("--out", type=Path, help="none: only the pool is made")
    p.add_argument("--pool", type=Path, help="a file of drawn pairs, made where it does not exist")
    p.add_argument("--draws", type=int, default=16, help="epochs in the pool, each drawn anew")
    p.add_argument("--processes", type=int, default=os.cpu_count())
    p.add_argument("--limit", type=int, help="so many free pairs only, to try things out")
    p.add_argument("--width", type=int, default=WIDTH)
    p.add_argument("--encoder-layers", type=int, default=LAYERS)
    p.add_argument("--decoder-layers", type=int, default=LAYERS)
    p.add_argument("--scratch", action="store_true", help="new weights, the old vocabulary")
    p.add_argument(
        "--align",
        type=float,
        default=0.05,
        help="weight of the loss that lets the mean of the last cross-attention look at the word "
        "that is being translated (Chen et al. 2016)",
    )
    p.add_argument(
        "--loose",
        type=float,
        default=0.7,
        help="free pairs are dropped where a smaller share of their words has a counterpart",
    )
    p.add_argument(
        "--minutes",
        type=float,
        default=100,
        help="processor minutes per thread (on a GPU: minutes); the schedule follows them",
    )
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--tokens", type=int, default=12000, help="target tokens in a batch")
    p.add_argument("--lr", type=float, default=1.2e-3)
    p.add_argument("--warm-up", type=int, default=500, help="steps")
    p.add_argument("--dropout", type=float, default=0.15)
    p.add_argument("--smoothing", type=float, default=0.1)
    p.add_argument(
        "--resplit",
        type=float,
        default=0.15,
        help="share of sources split at random among the likely ways",
    )
    p.add_argument(
        "--joined", type=float, default=0.15, help="share of pairs that get a second pair appended"
    )
    p.add_argument(
        "--conjoined",
        type=float,
        default=0.15,
        help="pairs more that are two free ones with and or but between them",
    )
    p.add_argument(
        "--templates",
        type=float,
        default=1.0,
        help="pairs of templates.py, new in each draw, per other pair",
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
        nargs="+",
        default=[],
        help="on pairs that are no templates, stay near what the models of these folders predict "
        "on average (Hinton et al. 2015, Li and Hoiem 2016)",
    )
    p.add_argument(
        "--kept",
        type=float,
        default=0.5,
        help="weight of the teacher's part of the loss on these pairs",
    )
    p.add_argument("--every", type=int, default=500, help="steps from one validation to the next")
    p.add_argument(
        "--continue-from",
        type=Path,
        help="train this folder's weights further, with its tokenizer; --out may not be it",
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
    tatoeba_en_de_valid.tsv gives only its English sides: none of them, nor of what evaluate.py asks
    nor a name in it, may occur in training."""
    tatoeba, grammar = (
        read_pairs(data / "tatoeba_en_de_train.tsv"),
        read_pairs(data / "templates_en_de.tsv"),
    )
    chosen = [tatoeba[i] for i in rng.permutation(len(tatoeba))[:400]]
    held_out = {english for english, _ in chosen + grammar[:500]}
    tested = {templates.key_of(p[0]) for p in read_pairs(data / "tatoeba_en_de_valid.tsv")}
    allowed = lambda p: (
        p[0] not in held_out and templates.key_of(p[0]) not in tested and not templates.asked(p[0])
    )
    free, ours = ([p for p in pairs if allowed(p)] for pairs in (tatoeba, grammar))
    return free, ours, chosen + grammar[:200], tested


def kept(free, lexicon, share):
    """Without pairs whose words have too few counterparts, and without the looser one of two
    translations where they differ in worth."""
    fits = [lexicon.fit(*p) for p in free]
    best = {}
    for fit, (english, _) in zip(fits, free):
        best[english] = max(fit, best.get(english, 0.0))
    return [p for fit, p in zip(fits, free) if fit >= max(share, best[p[0]] - 0.15)]


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


class Joiner:
    """Two sentences as one, with and or but; which first words keep their capital is counted."""

    def __init__(self, pairs):
        self.small = ({}, {})
        for pair in pairs:
            for side, text in enumerate(pair):
                for word in re.findall(r"(?<=[\w,] )\w+", text):
                    count = self.small[side].setdefault(word.lower(), [0, 0])
                    count[word[0].isupper()] += 1

    def lowered(self, text, side):
        word = re.match(r"\w+", text)
        if not word or word[0].lower() == "i":
            return text if word and side == 0 else text[0].lower() + text[1:]
        small, large = self.small[side].get(word[0].lower(), (0, 1))
        return text[0].lower() + text[1:] if small > large else text

    def joined(self, a, b, rng):
        """None where one of them is no plain sentence, or a German Sie could be two."""
        if any(t[-1] != "." or re.search(r'[";:?!-]|\. ', t) for pair in (a, b) for t in pair):
            return None
        english, german = b
        polite = german.startswith(("Sie ", "Ihr "))
        if polite and not re.match(r"(She|They|Her|Their)\b", english):
            return None
        german = german[0].lower() + german[1:] if polite else self.lowered(german, 1)
        word, wort = rng.choice([(", and", " und"), (" and", " und"), (", but", ", aber")])
        return (f"{a[0][:-1]}{word} {self.lowered(english, 0)}", f"{a[1][:-1]}{wort} {german}")


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


def up(length, step=8):
    """Few different shapes."""
    return -(-length // step) * step


ROW = ("source", "target", "links")  # flat arrays of the pool, with offsets


class Drawing:
    """What a process needs to draw one epoch of the pool."""

    def __init__(self, free, ours, lexicon, pieces, a, tested):
        self.free, self.ours, self.lexicon, self.pieces, self.a = free, ours, lexicon, pieces, a
        self.tested, self.joiner = tested, Joiner(free)

    def rows(self, draw):
        """(source, target, links, it, noun, free?) of one epoch, joined and shuffled."""
        rng = random.Random(self.a.seed * 1000 + draw)
        sentencepiece.set_random_generator_seed(self.a.seed * 1000 + draw)
        made = []
        while len(made) < round(self.a.templates * len(self.free)):
            pair, kind = templates.pair_and_kind(rng)
            if templates.key_of(pair[0]) not in self.tested:
                made.append((pair, kind in templates.COPIES))
        rows = [(varied(p, rng), False, True) for p in self.free]
        rows += [(varied(p, rng), False, False) for p in self.ours]
        # what is copied keeps the same pieces on both sides
        rows += [(varied(p, rng), copied, False) for p, copied in made]
        for p in rng.sample(self.free, round(self.a.conjoined * len(self.free))):
            both = self.joiner.joined(p, rng.choice(self.free), rng)
            if both:
                rows.append((varied(both, rng), False, False))
        rng.shuffle(rows)
        out = []
        for (english, german), copied, free in rows:
            if not copied and rng.random() < self.a.resplit:
                source = self.pieces.encode(
                    english, out_type=str, enable_sampling=True, alpha=0.3, nbest_size=-1
                )
            else:
                source = self.pieces.encode(english, out_type=str)
            target = self.pieces.encode(german, out_type=str)
            links = align.of_pieces(self.lexicon, english, german, source, target)
            it = templates.it_and_noun(source, english) or (-1, -1)
            ids = [[self.pieces.piece_to_id(p) for p in side] for side in (source, target)]
            assert not templates.asked(english)
            out.append((*ids, links, it, free))
        return list(self.joined(out, rng))

    def joined(self, rows, rng):
        rows = iter(rows)
        for x, y, links, it, free in rows:
            other = next(rows, None) if rng.random() < self.a.joined else None
            if other:
                m, n = len(x), len(y)
                links = links + [(t + n, b + m, e + m) for t, b, e in other[2]]
                x, y, free = x + other[0], y + other[1], free and other[4]
            if max(len(x), len(y)) < POSITIONS - 4:
                yield x, y, links, it, free


DRAWING = None


def packed(draw):
    rows = DRAWING.rows(draw)
    flat = lambda k, dtype: np.array(list(itertools.chain.from_iterable(r[k] for r in rows)), dtype)
    sizes = lambda k: np.array([len(r[k]) for r in rows], np.int32)
    return dict(
        source=flat(0, np.int16),
        target=flat(1, np.int16),
        links=flat(2, np.uint8).reshape(-1, 3),
        source_sizes=sizes(0),
        target_sizes=sizes(1),
        links_sizes=sizes(2),
        it=np.array([r[3] for r in rows], np.int16),
        free=np.array([r[4] for r in rows]),
    )


def make_pool(data, pieces, a):
    """Draws epochs in as many processes as there are."""
    global DRAWING
    free, ours, _, tested = split_data(data, np.random.default_rng(1))
    if a.limit:
        free, ours = free[: a.limit], ours[: a.limit]
    rng = random.Random(a.seed)
    more = [templates.pair(rng) for _ in range(min(40000, len(free)))]
    lexicon = align.Lexicon(free + ours + more)
    good = kept(free, lexicon, a.loose)
    print(f"{len(free)} free pairs, {len(good)} kept; {len(ours)} of the first grammar", flush=True)
    DRAWING = Drawing(good, ours, lexicon, pieces, a, tested)
    with multiprocessing.get_context("fork").Pool(a.processes) as pool:
        draws = pool.map(packed, range(a.draws), chunksize=1)
    part = a.pool.with_suffix(".part")
    torch.save([{k: torch.from_numpy(v) for k, v in d.items()} for d in draws], part)
    part.rename(a.pool)


class Batches:
    """Epoch after epoch of the pool, in batches of like length, gathered on the device."""

    def __init__(self, draws, a, device):
        self.draws, self.a, self.device = draws, a, device
        self.rng = np.random.default_rng(a.seed)
        self.queue, self.epoch, self.seen = [], 0, 0

    def fill(self):
        draw = self.draws[(self.epoch + self.a.seed) % len(self.draws)]
        self.now = {k: draw[k].to(self.device) for k in ("source", "target", "links", "it", "free")}
        self.sizes = {k: draw[f"{k}_sizes"].numpy() for k in ROW}
        self.at = {k: np.concatenate([[0], np.cumsum(v)[:-1]]) for k, v in self.sizes.items()}
        m, n = self.sizes["source"], self.sizes["target"]
        noise = self.rng.random(len(m))
        order = np.lexsort((m + 3 * noise, up(n + 1)))
        widths = np.maximum(up(m + 1), up(n + 1))[order].tolist()
        width, start = 0, 0
        for i, own in enumerate(widths):
            if i > start and max(width, own) * (i + 1 - start) > self.a.tokens:
                self.queue.append(order[start:i])
                start, width = i, 0
            width = max(width, own)
        self.queue.append(order[start:])
        self.rng.shuffle(self.queue)
        self.epoch += 1

    def tensor(self, values):
        return torch.as_tensor(values, dtype=torch.long).to(self.device, non_blocking=True)

    def padded(self, name, rows, value):
        """[rows, longest + 1] of the flat array, and where it holds tokens."""
        sizes = self.sizes[name][rows]
        length = up(int(sizes.max()) + 1)
        place = torch.arange(length, device=self.device)[None]
        sizes = self.tensor(sizes)[:, None]
        index = (self.tensor(self.at[name][rows])[:, None] + place).clamp_max(
            len(self.now[name]) - 1
        )
        ids = self.now[name][index].long()
        return torch.where(place < sizes, ids, value), place, sizes

    def next(self):
        if not self.queue:
            self.fill()
        rows = self.queue.pop()
        self.seen += len(rows)
        source, place, sizes = self.padded("source", rows, PAD)
        source = torch.where(place == sizes, END, source)
        target, place, sizes = self.padded("target", rows, PAD)
        labels = torch.where(place == sizes, END, torch.where(place < sizes, target, -100))
        given = torch.cat([torch.full_like(target[:, :1], PAD), target[:, :-1]], 1)
        counts = self.sizes["links"][rows]
        begins = np.repeat(
            self.at["links"][rows] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts
        )
        links = self.now["links"][self.tensor(begins + np.arange(len(begins)))].long()
        owner = self.tensor(np.repeat(np.arange(len(rows)), counts))
        index = self.tensor(rows)
        return dict(
            source=source,
            given=given,
            labels=labels,
            owner=owner,
            links=links,
            it=self.now["it"][index].long(),
            free=self.now["free"][index],
            count=int(self.sizes["target"][rows].sum()) + len(rows),
        )


def collate(pairs, device):
    """A batch of (source, target) without links."""
    m, n = (up(max(len(p[side]) for p in pairs) + 1) for side in (0, 1))
    source, given = np.full((len(pairs), m), PAD), np.full((len(pairs), n), PAD)
    labels = np.full((len(pairs), n), -100)
    for row, (x, y) in enumerate(pairs):
        source[row, : len(x) + 1] = [*x, END]
        given[row, 1 : len(y) + 1] = y
        labels[row, : len(y) + 1] = [*y, END]
    made = dict(source=source, given=given, labels=labels)
    return {k: torch.from_numpy(v).to(device) for k, v in made.items()}


def make_model(a):
    config = MarianConfig(
        vocab_size=VOCAB,
        decoder_vocab_size=VOCAB,
        d_model=a.width,
        encoder_layers=a.encoder_layers,
        decoder_layers=a.decoder_layers,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=4 * a.width,
        decoder_ffn_dim=4 * a.width,
        activation_function="relu",
        dropout=a.dropout,
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
    config._attn_implementation = "eager"  # the losses read the weights of attention
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
                p, std=a.width**-0.5
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
    """Logits [pairs, places, vocab]; the weights of the encoder's and of cross-attention."""
    source = batch["source"]
    with torch.autocast(source.device.type, dtype=torch.bfloat16):
        out = model.model(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            decoder_input_ids=batch["given"],
            output_attentions=with_attention,
            use_cache=False,
        )
        logits = F.linear(out.last_hidden_state, model.lm_head.weight)
    return logits.float(), out.encoder_attentions, out.cross_attentions


def loss_of(model, batch):
    return F.cross_entropy(logits_of(model, batch)[0].flatten(0, 1), batch["labels"].flatten())


def training_loss(model, teachers, batch, a):
    """The next token's; on pairs that are no templates also the distance to what the teachers
    predict; minus the logarithm of the weight from "it" to its noun of one head, and of that of the
    last cross-attention's mean on the word that is being translated."""
    labels = batch["labels"]
    known = (labels != -100).float()
    logits, encoder, cross = logits_of(model, batch, True)
    likely = logits.log_softmax(-1)
    loss = -likely.gather(-1, labels.clamp_min(0)[..., None])[..., 0] * (1 - a.smoothing)
    loss = loss - a.smoothing * likely.mean(-1)
    if teachers:
        with torch.no_grad():
            wanted = sum(logits_of(t, batch)[0].softmax(-1) for t in teachers) / len(teachers)
        far = -(wanted * likely).sum(-1)
        share = a.kept * batch["free"][:, None].float()
        loss = (1 - share) * loss + share * far
    total = (loss * known).sum() / batch["count"]
    if a.pronoun_head > 0 and a.encoder_layers > IT_LAYER:
        it, noun = batch["it"].T
        row = torch.arange(len(it), device=it.device)
        weights = encoder[IT_LAYER][row, IT_HEAD, it.clamp_min(0), noun.clamp_min(0)].float()
        total = total - a.pronoun_head * (weights.clamp_min(1e-6).log() * (it >= 0)).mean()
    if a.align > 0 and len(batch["links"]):
        t, begin, end = batch["links"].T
        mean = cross[-1].float().mean(1)
        places = torch.arange(mean.shape[2], device=mean.device)
        wanted = (places >= begin[:, None]) & (places < end[:, None])
        weight = (mean[batch["owner"], t] * wanted).sum(1)
        total = total - a.align * weight.clamp_min(1e-4).log().mean()
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
def evaluate(model, rows, device):
    """Loss per target token, no smoothing, batches of 100."""
    model.eval()
    total = count = 0
    for i in range(0, len(rows), 100):
        batch = collate(rows[i : i + 100], device)
        n = int((batch["labels"] != -100).sum())
        total, count = total + loss_of(model, batch).item() * n, count + n
    model.train()
    return total / count


def save(model, out):
    half = MarianMTModel(model.config)
    half.load_state_dict(model.state_dict())
    half.generation_config = model.generation_config
    half.half().save_pretrained(out)


def minutes_of(device, threads):
    """A clock: minutes on a GPU, processor minutes per thread without one."""
    now = time.monotonic if device.type == "cuda" else lambda: time.process_time() / threads
    start = now()
    return lambda: (now() - start) / 60


def train(model, teachers, batches, chosen, a, device):
    """Warm-up, then cosine to 3 %; the average with the best validation loss is kept."""
    optimizer, average = make_optimizer(model, a.lr), Average(model)
    clock, step, best, recent = minutes_of(device, a.threads), 0, math.inf, []
    while clock() < a.minutes:
        factor = min(1, (step + 1) / a.warm_up) * (
            0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * min(1, clock() / a.minutes)))
        )
        for group in optimizer.param_groups:
            group["lr"] = a.lr * factor
        loss = training_loss(model, teachers, batches.next(), a)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        average.update()
        recent = recent[-199:] + [loss.detach()]
        step += 1
        if step % a.every == 0:
            mean = torch.stack(recent).mean().item()
            if not math.isfinite(mean):
                raise SystemExit(f"{a.out}: the loss is no number at step {step}")
            best = checkpoint(model, average, chosen, best, a.out, device)
            print(
                f"{a.out.name} {clock():5.2f} min step {step} epoch {batches.epoch} "
                f"{batches.seen / 1e3:.0f} k pairs, train {mean:.3f} best {best:.3f}",
                flush=True,
            )
    best = checkpoint(model, average, chosen, best, a.out, device)
    average.swap()
    save(model, a.out / "last")
    for name in TOKENIZER:
        shutil.copy(a.out / name, a.out / "last" / name)
    print(f"{a.out.name} end: {step} steps, {batches.seen / 1e6:.2f} M pairs, best {best:.3f}")


def checkpoint(model, average, chosen, best, out, device):
    average.swap()
    losses = [evaluate(model, part, device) for part in (chosen[:400], chosen[400:])]
    print(f"{out.name} valid Tatoeba {losses[0]:.3f} templates {losses[1]:.3f}", flush=True)
    if sum(losses) < best:
        save(model, out)
    average.swap()
    return min(best, sum(losses))


def open_tokenizer(data, a):
    """A new one, or that of the folder whose weights are trained further."""
    if not a.continue_from:
        rng = random.Random(a.seed)
        free, ours, _, _ = split_data(data, np.random.default_rng(1))
        more = [templates.pair(rng) for _ in range(round(a.templates * len(free)))]
        return train_tokenizer([varied(p, rng) for p in free + ours] + more, a.out, a.threads)
    if a.out:
        for name in TOKENIZER:
            shutil.copy(a.continue_from / name, a.out / name)
    return sentencepiece.SentencePieceProcessor(model_file=str(a.continue_from / "source.spm"))


def load(folder, device):
    model = MarianMTModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    return model.to(device).eval()


def main():
    a = arguments()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    if a.out:
        a.out.mkdir(parents=True, exist_ok=True)
    pieces = open_tokenizer(a.data, a)
    a.pool = a.pool or a.out / "pool.pt"
    if not a.pool.exists():
        make_pool(a.data, pieces, a)
    if not a.out:
        return
    draws = torch.load(a.pool)
    chosen = split_data(a.data, np.random.default_rng(1))[2]
    chosen = list(zip(pieces.encode([p[0] for p in chosen]), pieces.encode([p[1] for p in chosen])))
    model = make_model(a)
    if a.continue_from and not a.scratch:
        model.load_state_dict(load(a.continue_from, "cpu").state_dict())
    model.to(device).train()
    count = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{a.out.name}: {count / 1e6:.2f} M trained parameters on {device}", flush=True)
    teachers = [load(folder, device) for folder in a.teacher]
    train(model, teachers, Batches(draws, a, device), chosen, a, device)


if __name__ == "__main__":
    main()
