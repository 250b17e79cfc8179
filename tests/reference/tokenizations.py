"""Texts, and their comparison with what another tokenizer makes of them; see
tokenizer_folders.py."""

import json
import subprocess

CORPUS = (
    "the cat sat on the mat . the dog sat on the log , and the cats saw it's own naïve café 12 "
    "345 times !\n"
    "we're here : they'll say hello world , Hello World ; user and assistant speak to the model "
    "in turns .\n"
    "der Hund läuft über die straße \u4e2d\u6587 \u65e5\u672c\u8a9e "
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u062f \u0627\u0648 m² x³ ½ 😀 don't stop at the "
    "end .\n"
) * 20
PARTS = (
    "the cat sat on the mat. | Hello World!|it's naïve café| 12345 |\u4e2d\u6587 and "
    "\u65e5\u672c\u8a9e|m² ½|\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u062f|  two  blanks "
    "|\ttab\n\nline| ends \n|😀 face|We'RE|\u00c9\u0301 e\u0301 \ufb01|\u01c5\u0130stanbul|(x+y)|"
    "a_b-c| "
    "\u2581under\u2581score|\u00a0nbsp\u2003em|don't|THEY'LL|\u30ab\u30bf\u30ab\u30ca\u30fc|"
    "ab\u0000c|\ud55c\uad6d\uc5b4|``quoted''| "
    "x|zzz|w/o|#tag|\u200d\u200c|\ufeffbom|\u2160\u24b6\u2469"
).split("|")
SPELLINGS = [
    "<|user|>",
    "<|im_start|>",
    "[NEW]",
    "zzz",
    " lead",
    "trail ",
    "Ünï",
    "<image>",
    "hello",
    "World",
    "the",
    "<s>",
    "</s>",
    "<unk>",
    "<mask>",
    "<pad>",
    "[MASK]",
    "<|endoftext|>",
    "<extra_id_3>",
    "\u4e2d",
]


def texts(rng, count=14):
    out = ["", " ", "Hello there", "the cat"]
    for _ in range(count):
        pieces = rng.choices(PARTS + SPELLINGS, k=rng.randint(1, 5))
        out.append(rng.choice(["", " "]).join(pieces))
    return out


class Comparison:
    """Counts what was compared, and says the first differences."""

    def __init__(self, program):
        self.program, self.failures, self.refused, self.compared = program, [], 0, 0

    def tokenize(self, model, rows):
        stdin = "".join(json.dumps(r) + "\n" for r in rows)
        done = subprocess.run(
            [self.program, "tokenize", "--model", model],
            input=stdin.encode(),
            capture_output=True,
            timeout=60,
        )
        if done.returncode != 0:
            return None, done.stderr.decode("utf-8", "replace").strip()
        return [json.loads(line) for line in done.stdout.decode("utf-8").split("\n") if line], ""

    def report(self, what, row, wanted, got):
        self.failures.append(what)
        if len(self.failures) <= 12:
            print(f"FAIL {what}: {row!r}\n     wanted {wanted}\n     got    {got}", flush=True)

    def compare(self, what, model, rows, encode):
        """encode(row) gives ids and, where they are defined, tokens and offsets."""
        got, error = self.tokenize(model, rows)
        if got is None:
            return self.report(what, "opens elsewhere", "tokens", error)
        for row, mine in zip(rows, got, strict=True):
            wanted = encode(row)
            self.compared += 1
            if any(value != mine[key] for key, value in wanted.items()):
                return self.report(what, row, wanted, {key: mine[key] for key in wanted})


def result(encoding, offsets):
    out = {"ids": encoding.ids, "tokens": encoding.tokens}
    return out | ({"offsets": [list(o) for o in encoding.offsets]} if offsets else {})
