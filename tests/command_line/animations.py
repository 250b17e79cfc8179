"""Several pictures of one command: a text per line, and animations."""

import struct
import zlib

import pictures
from program import FOLDER, refused, run


def many_pictures_at_once():
    sentences = FOLDER / "sentences.txt"
    sentences.write_text("".join(f"Lily had {i} red balls.\n\n" for i in range(12)))
    for threads in (1, 2):
        (FOLDER / f"many{threads}").mkdir()
        run(
            "render --view head",
            "--text-file",
            sentences,
            "-o",
            FOLDER / f"many{threads}/a b.svg",
            "--threads",
            threads,
        )
    names = sorted(p.name for p in (FOLDER / "many1").iterdir())
    assert names == [f"a b-{i:02}.svg" for i in range(1, 13)], names
    assert all(
        (FOLDER / "many1" / n).read_bytes() == (FOLDER / "many2" / n).read_bytes() for n in names
    ), "threads change nothing"
    run("render --view head -o alone.svg", "--text", "Lily had 4 red balls.")
    assert (FOLDER / "alone.svg").read_bytes() == (FOLDER / "many1/a b-05.svg").read_bytes()
    run("render --text-file - --view head -o stdin.png", text_in=b"one line\n")
    assert (FOLDER / "stdin.png").exists()
    (FOLDER / "each").mkdir()
    run(
        "render --target Die --view head --all-heads --model MODELS/marian -o each/h.png",
        "--text",
        "the cat",
    )
    assert len(list((FOLDER / "each").iterdir())) == 24
    assert (FOLDER / "each/h-cross.0.3.png").exists()
    assert run("render --text x -o -").stdout[:4] == b"\x89PNG"
    for bad in (
        ["--text-file", sentences, "-o", "-"],
        ["--text", "x", "--view", "head", "--all-heads", "-o", "-"],
    ):
        refused("standard output", "render", *bad)
    long = FOLDER / "long.txt"
    long.write_text("fine\n" + "the cat sat " * 400 + "\nfine\n")
    run("render -o of.png", "--text-file", long)


def animations():
    """Frames, their order and checksums as the format asks; every frame's pixels unpack to the
    page's size."""
    for more, frames in (
        (["--animate", "layers"], 4),
        (["--animate", "tokens"], 4),
        (["--animate", "tokens", "--generate", "3", "--delay", "250"], 7),
    ):
        png = FOLDER / "animated.png"
        run("render --view head --layer 1 --head 2", "--text", "Once upon a time", *more, "-o", png)
        chunks = pictures.chunks(png.read_bytes())
        kinds = [kind for kind, _ in chunks]
        assert kinds[:3] == ["IHDR", "acTL", "pHYs"], kinds
        assert kinds[-1] == "IEND", kinds
        assert kinds.count("fcTL") == frames, kinds
        assert kinds.count("IDAT") == 1, kinds
        width, height = struct.unpack(">II", chunks[0][1][:8])
        assert struct.unpack(">II", chunks[1][1]) == (frames, 0)
        numbers = [
            int.from_bytes(data[:4], "big") for kind, data in chunks if kind in ("fcTL", "fdAT")
        ]
        assert numbers == list(range(2 * frames - 1)), numbers
        for kind, data in chunks:
            if kind in ("IDAT", "fdAT"):
                assert len(zlib.decompress(data[4:] if kind == "fdAT" else data)) == height * (
                    1 + 3 * width
                )
            if kind == "fcTL":
                assert struct.unpack(">II", data[4:12]) == (width, height)
                assert struct.unpack(">HH", data[20:24]) == (
                    250 if "--delay" in more else 700,
                    1000,
                )
    again = FOLDER / "animated again.png"
    run(
        "render --view head --layer 1 --head 2 --threads 1",
        "--text",
        "Once upon a time",
        *more,
        "-o",
        again,
    )
    assert again.read_bytes() == png.read_bytes()
    (FOLDER / "frames").mkdir()
    run(
        "render --view lines --animate layers --numbered -o frames/f.svg",
        "--text",
        "Once upon a time",
    )
    assert sorted(p.name for p in (FOLDER / "frames").iterdir()) == [
        f"f-{i}.svg" for i in range(1, 5)
    ]
    run(
        "render --view head --layer cross.0 --animate tokens --model MODELS/marian",
        "--text",
        "the cat",
        "--target",
        "Die Katze",
        "-o",
        again,
    )
    run("render --text x --animate layers -o no.svg", status=1)
    run("render --text x --animate tokens --generate 2 --model MODELS/bert -o no.png", status=1)
    assert not (FOLDER / "no.svg").exists() and not (FOLDER / "no.png").exists()
