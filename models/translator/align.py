"""Which word of an English sentence a German word belongs to: IBM model 1 in both directions (Brown
et al. 1993) with a prior for like places, learned from the training pairs themselves. train.py
asks the last layer of cross-attention to look there.
"""

import re

import numpy as np

NO_COUNTERPART = {"do", "does", "did"}  # helpers of English that no German word stands for
WORD = re.compile(r"\w+(?:[.,:]\d+)*|[^\w\s]")


def words(text):
    """(begin, end, lower case) of each word and mark."""
    return [(m.start(), m.end(), m[0].lower()) for m in WORD.finditer(text)]


def near(i, n, j, m):
    return np.exp(-2.0 * np.abs(i / n - j / m))


class Lexicon:
    """p(English | German) + p(German | English), for words that occur together."""

    def __init__(self, pairs, rounds=8):
        english, german = {}, {}
        e_ids, d_ids, owner_e, owner_d, prior = [], [], [], [], []
        count_e = count_d = 0
        for a, b in pairs:
            xs = [english.setdefault(w, len(english)) for _, _, w in words(a)]
            ys = [german.setdefault(w, len(german)) for _, _, w in words(b)]
            n, m = len(xs), len(ys)
            if not n or not m:
                continue
            e_ids.append(np.repeat(xs, m))
            d_ids.append(np.tile(ys, n))
            owner_e.append(np.repeat(np.arange(n), m) + count_e)
            owner_d.append(np.tile(np.arange(m), n) + count_d)
            prior.append(near(np.repeat(np.arange(n), m), n, np.tile(np.arange(m), n), m))
            count_e, count_d = count_e + n, count_d + m
        e, d, oe, od, prior = map(np.concatenate, (e_ids, d_ids, owner_e, owner_d, prior))
        cells, place = np.unique(e.astype(np.int64) * len(german) + d, return_inverse=True)
        e_of, d_of = cells // len(german), cells % len(german)
        total = 0
        # each German word is made by one of the English ones of its pair, and the other way around
        for owner, size, given, names in (
            (od, count_d, e_of, len(english)),
            (oe, count_e, d_of, len(german)),
        ):
            table = np.ones(len(cells))
            for _ in range(rounds):
                mass = table[place] * prior
                mass /= np.bincount(owner, mass, size)[owner]
                table = np.bincount(place, mass, len(cells))
                table /= np.bincount(given, table, names)[given]
            total = total + table
        kept = total > 0.02
        e_names, d_names = list(english), list(german)
        self.score = {
            (e_names[i], d_names[j]): s
            for i, j, s in zip(e_of[kept].tolist(), d_of[kept].tolist(), total[kept].tolist())
        }

    def links(self, xs, ys):
        """Places (English, German) that choose each other, of two lists of words."""
        n, m = len(xs), len(ys)
        table = np.zeros((n, m))
        for i, x in enumerate(xs):
            if x in NO_COUNTERPART:
                continue
            for j, y in enumerate(ys):
                s = self.score.get((x, y), 0.0) + (1.5 if x == y else 0.0)
                if s:
                    table[i, j] = s * np.exp(-2.0 * abs(i / n - j / m))
        best_x, best_y = table.argmax(0), table.argmax(1)
        return [
            (int(best_x[j]), j)
            for j in range(m)
            if table[best_x[j], j] > 0.2 and best_y[best_x[j]] == j
        ]

    def fit(self, english, german):
        """The share of both sides' words (no marks) that have a counterpart worth the name: low
        where a translation is free."""
        xs = [w for _, _, w in words(english) if w[0].isalnum()]
        ys = [w for _, _, w in words(german) if w[0].isalnum()]
        if not xs or not ys:
            return 1.0
        hit = lambda x, y: x == y or self.score.get((x, y), 0.0) > 0.06
        return (
            sum(any(hit(x, y) for y in ys) for x in xs) / len(xs)
            + sum(any(hit(x, y) for x in xs) for y in ys) / len(ys)
        ) / 2


def spans(pieces):
    """(begin, end) of each piece in the text; the space before a word belongs to none."""
    out, at = [], -1
    for piece in pieces:
        begin = at + (1 if piece.startswith("▁") else 0)
        at += len(piece)
        out.append((begin, at))
    return out


def pieces_of(word, places):
    """The first of the pieces that a word touches, and one past the last."""
    touched = [k for k, (b, e) in enumerate(places) if b < word[1] and e > word[0]]
    return (touched[0], touched[-1] + 1) if touched else None


def of_pieces(lexicon, english, german, source, target):
    """Rows (piece of the target, first piece of the source, one past the last). Words that are
    copied with the same pieces are linked piece by piece."""
    xs, ys = words(english), words(german)
    at_x, at_y, rows = spans(source), spans(target), []
    if not at_x or not at_y or at_x[-1][1] != len(english) or at_y[-1][1] != len(german):
        return rows
    for i, j in lexicon.links([w for *_, w in xs], [w for *_, w in ys]):
        x, y = pieces_of(xs[i], at_x), pieces_of(ys[j], at_y)
        if not x or not y:
            continue
        same = source[slice(*x)] == target[slice(*y)]
        for k in range(*y):
            rows.append((k, x[0] + k - y[0], x[0] + k - y[0] + 1) if same else (k, *x))
    return rows
