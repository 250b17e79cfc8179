"""What results are: named arrays, files, data frames, tables for notebooks, figures."""

import csv
import io
import json
import tempfile
from functools import cache
from pathlib import Path

import headlight
import numpy as np
from given_arrays import WORDS, causal_patterns, sentence_of
from headlight.named_arrays import read_arrays, short_name
from headlight.results import read_answer

TEXT = "Lily had a red ball. Lily had"
CLEAN, CORRUPTED = (
    f"Mia had a {a}. Tom had a {b}. Mia gave Tom the red"
    for a, b in (("red ball", "blue car"), ("blue ball", "red car"))
)
HOSTILE = "<script>alert('x')</script>"


@cache
def every_result():
    both = {"clean": CLEAN, "corrupted": CORRUPTED, "metric": "ball - car"}
    return {
        "heads": headlight.heads("stories", text=TEXT),
        "several kinds": headlight.heads("translator", text="I have"),
        "attribute": headlight.attribute("stories", TEXT, metric="log p ball"),
        "jacobian": headlight.attribute("stories", TEXT, method="jacobian", probes=2),
        "patch": headlight.patch("stories", **both, what="heads"),
        "compare": headlight.compare("stories", TEXT, ablate="1.2"),
        "average": headlight.average([TEXT, "Tom had a"], "stories", metric="ball"),
        "corpus": headlight.corpus(["Lily had a ball.", "Tom ran."], model="stories"),
    }


def a_result_is_saved_in_every_format():
    with tempfile.TemporaryDirectory() as folder:
        for name, found in every_result().items():
            held = found.arrays()
            assert held, name
            at = lambda ending: found.save(Path(folder) / f"{name}{ending}")
            with np.load(at(".npz")) as saved:
                assert list(saved) == list(held), name
                for key in saved:
                    assert np.array_equal(saved[key], held[key], equal_nan=True), (name, key)
            read = read_arrays(at(".safetensors").read_bytes())
            for (key, array), again in zip(held.items(), read.values()):
                assert np.array_equal(again, array, equal_nan=True), (name, key)
                assert (again.rows, again.columns) == (array.rows, array.columns), (name, key)
            said = json.loads(at(".json").read_text(encoding="utf-8"))
            assert said.get("version", 1) == 1, name
            rows = list(csv.reader(io.StringIO(at(".csv").read_text(encoding="utf-8"))))
            assert len({len(row) for row in rows}) == 1 and len(set(rows[0])) == len(rows[0]), name
            assert len(rows) == 1 + len(found.records()) or name == "corpus", name
            if len(held) == 1:
                assert np.array_equal(np.load(at(".npy")), *held.values(), equal_nan=True), name
            else:
                assert ".npz" in sentence_of(lambda: at(".npy")), name
            assert ".figure()" in sentence_of(lambda: at(".pdf")) or name == "corpus", name


def a_table_that_was_saved_says_the_numbers():
    found = every_result()["attribute"]
    with tempfile.TemporaryDirectory() as folder:
        text = found.save(Path(folder) / "x.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()]
    assert rows[0] == ["token", "score"] and [row[0] for row in rows[1:]] == found.tokens
    assert np.allclose([float(row[1]) for row in rows[1:]], found.scores)
    patched = headlight.patch("stories", clean=CLEAN, corrupted=CORRUPTED, metric="ball - car")
    row = patched.records()[1]
    assert len(row) == 1 + len(patched.columns), "a token that comes twice has two columns"
    assert list(row.values())[1:] == patched.values[1].tolist()


def notebooks_show_results_as_tables_and_texts_as_texts():
    for name, found in every_result().items():
        shown = found._repr_html_()
        assert shown.count("<table") + shown.count("<span") > 0, name
        assert shown.count("<table") == shown.count("</table>"), name
    first = every_result()["heads"]["previous"][0, 0]
    assert f">{first:.3f}</td>" in every_result()["heads"]._repr_html_()
    found = headlight.attribute("stories", f"Lily {HOSTILE} had", metric="log p ball")
    assert "".join(found.tokens).count("<"), found.tokens
    assert "<script" not in found._repr_html_() and "&lt;" in found._repr_html_()


def results_have_figures():
    for name in ("heads", "attribute", "patch", "compare", "average", "corpus"):
        assert every_result()[name].figure().png.startswith(b"\x89PNG"), name
    changed = every_result()["compare"]
    assert (
        changed.figure((1, 2)).png
        == headlight.figure("stories", text=TEXT, view="compare", head=(1, 2), ablate="1.2").png
    )
    estimated = headlight.patch(
        "stories", clean=CLEAN, corrupted=CORRUPTED, metric="ball - car", estimate=True
    )
    assert "share restored" in estimated.figure().svg


def numbers_have_short_names_and_know_their_rows():
    for title, name in (
        ("shares of the logit of ␣ball at red 3", "shares"),
        ("delta by head of red 3 in layer 0", "delta_by_head"),
        ("most probable id", "most_probable_id"),
        ("norm of delta", "norm_of_delta"),
        ("pattern of head 1.2", "pattern.1.2"),
        ("pattern of head cross.1.2", "pattern.cross.1.2"),
        ("A - B", "A_B"),
    ):
        assert short_name(title) == name, short_name(title)
    found = headlight.figure("stories", text=TEXT, view="lens", metric="p(ball)").numbers()
    assert list(found) == ["most_probable_id", "probability", "shares"]
    assert found["probability"].rows[0] == "embeddings"
    assert len(found["probability"].columns) == found["probability"].shape[1]
    assert found["shares"].title.startswith("shares of the logit")
    assert found["probability"][0].rows is None, "a part is not of these rows"
    assert "probability" in sentence_of(lambda: found["probabilty"])


def names_of_rows_and_columns_are_those_of_the_tokens():
    patterns = causal_patterns(2, 3, 5)
    found = headlight.figure(patterns=patterns, tokens=WORDS, head=(1, 2)).numbers()["pattern"]
    assert found.rows == found.columns == [word.strip() for word in WORDS]
    assert np.array_equal(np.nan_to_num(found), patterns[1, 2])


def answers_of_a_newer_program_are_refused():
    assert read_answer(b'[{"layer": 0}]', "heads")["heads"] == [{"layer": 0}]
    assert read_answer(b'{"version": 1, "heads": []}', "heads")["heads"] == []
    assert "version 2" in sentence_of(lambda: read_answer(b'{"version": 2}', "heads"))


def data_frames_have_a_row_for_each_head_token_or_mean():
    try:
        import pandas
    except ImportError:
        assert "pip install pandas" in sentence_of(every_result()["heads"].to_pandas)
        return
    for name, rows in (("heads", 32), ("attribute", 8), ("jacobian", 8), ("patch", 4)):
        frame = every_result()[name].to_pandas()
        assert isinstance(frame, pandas.DataFrame) and len(frame) == rows, name
    frame = headlight.figure("stories", text=TEXT, head=(1, 2)).numbers()["pattern"].to_pandas()
    assert list(frame.columns)[:2] == ["Lily", "had"] and frame.shape == (8, 8)
