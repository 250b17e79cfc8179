"""A user's work stays: over failed openings, other models, slides, undo and the next start."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from drive import Window
from places import GPT2, LILY, PROGRAM, REFERENCE, SENTENCE


def _in_folder(test):
    folder = Path(tempfile.mkdtemp(prefix="headlight-documents-"))
    try:
        return test(folder)
    finally:
        shutil.rmtree(folder)


def a_workspace_saved_after_a_failed_opening_names_the_open_model(display):
    def test(folder):
        file = folder / "kept.headlight.json"
        with Window(
            PROGRAM,
            display,
            "--text",
            LILY,
            "--do",
            f"mask none; open {folder}/nothing; escape; save workspace {file}",
        ) as w:
            w.wait(lambda r: r["save_path"] == str(file) and r["model"] == "stories")
            w.key("Return")
            w.wait(lambda r: r["save_result"] == f"Saved {file}")
        saved = json.loads(file.read_text())
        assert (saved["model"], saved["mask"], saved["text"]) == ("stories", "none", LILY), saved
        with Window(PROGRAM, display, file) as w:
            w.wait(
                lambda r: (
                    r["model"] == "stories"
                    and r["mask"] == "none"
                    and not r["model_error"]
                    and not r["busy"]
                )
            )

    _in_folder(test)


def slides_show_what_they_kept(display):
    """The sentence that is compared, the metric, what the model wrote: each slide its own."""
    commands = (
        "compare sentences; compare text Tom had a car; metric ball; view compare; slide add; "
        "compare text Mia had a cat; metric default; generate on; seed 3; length 4; slide add; "
        "generate off; slide go 1"
    )
    with Window(PROGRAM, display, "--text", SENTENCE, "--do", commands) as w:
        w.wait(
            lambda r: (
                r["slides"] == 2
                and r["slide"] == 0
                and r["text_b"] == "Tom had a car"
                and r["shown_text_b"] == "Tom had a car"
                and "ball" in r["metric"]
            )
        )
        w.key("F5")
        w.wait(lambda r: r["presenting"])
        w.key("Right")
        w.wait(
            lambda r: (
                r["slide"] == 1
                and r["text_b"] == "Mia had a cat"
                and not r["metric"]
                and len(r.get("written", {"labels": []})["labels"]) == 4
            )
        )
        w.key("Escape")
        w.wait(lambda r: not r["presenting"])
        w.key("ctrl+z")
        w.wait(lambda r: r["text_b"] == "Tom had a car" and "ball" in r["metric"])


def slides_are_saved_as_the_pages_of_one_pdf(display):
    """A page a slide, in their order, with its title, sentence and prediction, never its note; then
    the slide from before is shown again."""

    def test(folder):
        file = folder / "slides.pdf"
        do = (
            "view head; slide add; slide title First of all; slide note Say nothing; view lines; "
            f"slide add; slide title The second; slides; slide go 1; slide save {file}"
        )
        with Window(PROGRAM, display, "--text", LILY, "--do", do) as w:
            w.wait(lambda r: file.exists() and r["slide"] == 0 and not r["busy"])
            assert f"Saved 2 slides in {file}" in w.report()["notice"]
        if not shutil.which("pdfinfo"):
            return

        def text(page):
            command = ["pdftotext", "-f", str(page), "-l", str(page), str(file), "-"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        about = subprocess.run(["pdfinfo", str(file)], capture_output=True, text=True, check=True)
        assert "Pages:           2" in about.stdout, about.stdout
        assert "First of all" in text(1) and "1 of 2" in text(1), text(1)
        assert text(1).count("Lily") > 2, "in the sentence, and on both axes of the map"
        assert "The second" in text(2) and "2 of 2" in text(2), text(2)
        assert "Say nothing" not in text(1) + text(2)

    _in_folder(test)


def a_slide_of_another_model_opens_it(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        LILY,
        "--do",
        f"mask none; slide add; open {GPT2}; ablate 0.1; slide add; present",
    ) as w:
        w.wait(
            lambda r: (
                r["model"] == "gpt2" and r["slides"] == 2 and r["presenting"] and not r["busy"]
            )
        )
        w.key("Left")
        w.wait(
            lambda r: (
                r["model"] == "stories"
                and r["slide"] == 0
                and r["mask"] == "none"
                and r["changes"] == 0
                and not r["busy"]
            )
        )
        w.key("Right")
        w.wait(
            lambda r: (
                r["model"] == "gpt2"
                and r["slide"] == 1
                and r["mask"] == "own"
                and r["change_list"] == ["ablate:0.1:zero"]
            )
        )
        w.key("Left", "Right")
        w.wait(lambda r: r["model"] == "gpt2" and r["slide"] == 1 and not r["busy"])


def undo_goes_back_through_models_and_leaves_their_texts_apart(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        w.key("ctrl+BackSpace")
        w.wait(lambda r: r["text"] == LILY[:-3])
        w.drop(REFERENCE / "vit")
        w.wait(lambda r: r.get("model") == "vit" and not r["busy"])
        w.key("ctrl+z")
        r = w.wait(lambda r: r.get("model") == "stories" and not r["busy"])
        assert r["text"] == LILY[:-3], r["text"]
        w.key("ctrl+z")
        w.wait(lambda r: r["text"] == LILY and not r["notice"])
        w.key("ctrl+y", "ctrl+y")
        r = w.wait(lambda r: r.get("model") == "vit" and not r["busy"])
        assert r["text"] == "", "no word of the sentence stands in the path of the picture"


def a_click_in_the_list_of_steps_goes_there(display):
    """Back to the start and forward again, over a switch of the model; a model that is gone is
    told."""

    def test(folder):
        gone = folder / "gpt2"
        shutil.copytree(GPT2, gone)
        steps = f"head 1.2; ablate 1.2; mask none; open {gone}; mask causal"
        with Window(PROGRAM, display, "--text", LILY, "--do", steps) as w:
            w.wait(lambda r: r["model"] == "gpt2" and r["mask"] == "causal" and not r["busy"])
            w.key("Escape", "F4")
            r = w.wait(lambda r: "history/4" in r["widgets"])
            assert r["steps"][0] == "Ablate 1.2" and r["steps"][2] == "Open gpt2", r["steps"]
            w.click("history/1")
            w.wait(
                lambda r: (
                    r["model"] == "stories"
                    and r["mask"] == "own"
                    and r.get("change_list") == ["ablate:1.2:zero"]
                    and r["shown_head"] == [1, 2]
                    and not r["busy"]
                )
            )
            w.click("history/0")
            w.wait(lambda r: r["changes"] == 0 and not r["busy"])
            w.click("history/4")
            w.wait(lambda r: r["model"] == "gpt2" and r["mask"] == "causal" and not r["busy"])
            w.click("history/0")
            w.wait(lambda r: r["model"] == "stories" and not r["busy"])
            shutil.rmtree(gone)
            w.click("history/4")
            w.wait(lambda r: str(gone) in r["notice"] and not r["model_menu"])

    _in_folder(test)


def a_model_comes_back_with_what_was_changed_in_it(display):
    def test(folder):
        home = folder / "home"
        with Window(
            PROGRAM,
            display,
            "--text",
            LILY,
            "--do",
            f"ablate 1.2; mask none; open {GPT2}; mask causal; switch stories",
            home=home,
        ) as w:
            w.wait(
                lambda r: (
                    r["model"] == "stories"
                    and r["mask"] == "none"
                    and r.get("change_list") == ["ablate:1.2:zero"]
                    and r["recent_models"]  # the other one was open between
                    and not r["busy"]
                )
            )
            w.key("Escape", "ctrl+z")
            w.wait(
                lambda r: (
                    r["model"] == "gpt2"
                    and r["mask"] == "causal"
                    and r["changes"] == 0
                    and not r["busy"]
                )
            )
            assert w.close()[0] == 0
        with Window(
            PROGRAM, display, "--do", "switch stories", home=home
        ) as w:  # and over the next start
            w.wait(
                lambda r: (
                    r["model"] == "stories"
                    and r["mask"] == "none"
                    and r["changes"] == 1
                    and not r["busy"]
                )
            )

    _in_folder(test)


def a_try_refuses_what_goes_through_the_history(display):
    with Window(PROGRAM, display, "--text", LILY) as w:
        w.settled()
        for command in ("try undo", "try redo"):
            w.key("ctrl+k")
            w.wait(lambda r: "palette/row/0" in r["widgets"])
            w.type(command)
            w.wait(lambda r: r["palette"])
            w.key("Return")
            w.wait(lambda r: "one step of undo" in r["notice"])
            w.key("Escape", "Escape")
            w.type("x")
            w.wait(lambda r: r["text"].endswith("x") and not r["notice"])


def what_is_of_a_workspace_ends_with_it(display):
    """Presenting, the number of a slide, and what was tried."""

    def test(folder):
        file = folder / "other.headlight.json"
        file.write_text(
            json.dumps(
                {
                    "format": "headlight-workspace",
                    "version": 1,
                    "model": "stories",
                    "text": "A dog",
                    "slides": [],
                }
            )
        )
        with Window(
            PROGRAM, display, "--text", LILY, "--do", "slide add; slide add; try mask none; present"
        ) as w:
            w.wait(lambda r: r["presenting"] and r["slide"] == 1 and r["trial"])
            w.drop(file)
            w.wait(
                lambda r: (
                    r["text"] == "A dog"
                    and not r["presenting"]
                    and r["slide"] == -1
                    and not r["trial"]
                    and r["mask"] == "own"
                )
            )

    _in_folder(test)


def what_is_done_in_place_of_a_missing_model_is_remembered_as_its_own(display):
    def test(folder):
        home = folder / "home"
        (home / "headlight").mkdir(parents=True)
        settings = {
            "model": str(folder / "gone"),
            "text": LILY,
            "mask": "window:2",
            "changes": ["ablate:0.1:mean"],
            "hints_seen": True,
        }
        (home / "headlight/settings.json").write_text(json.dumps(settings))
        with Window(PROGRAM, display, home=home) as w:
            w.wait(
                lambda r: r.get("model") == "stories" and r["model_error"] and r["mask"] == "own"
            )
            w.key("Escape")
            w.wait(lambda r: not r["model_menu"])
            w.key("ctrl+k")
            w.wait(lambda r: "palette/row/0" in r["widgets"])
            w.type("mask none")
            w.key("Return")
            w.wait(lambda r: r["mask"] == "none")
            assert w.close()[0] == 0
        kept = json.loads((home / "headlight/settings.json").read_text())
        assert (kept["model"], kept["mask"], kept["changes"]) == ("stories", "none", []), kept
        other = json.loads(kept["other_models"][0])
        assert (other["model"], other["mask"], other["changes"]) == (
            settings["model"],
            "window:2",
            ["ablate:0.1:mean"],
        ), other
        with Window(PROGRAM, display, home=home) as w:
            w.wait(
                lambda r: (
                    r.get("model") == "stories"
                    and r["mask"] == "none"
                    and r["changes"] == 0
                    and not r["model_error"]
                )
            )

    _in_folder(test)


def a_lock_does_not_outlive_typing(display):
    with Window(PROGRAM, display, "--text", SENTENCE) as w:
        w.settled()
        w.type(" a")
        w.key("ctrl+k")  # a cell of the text that is still being read
        w.wait(lambda r: "palette/row/0" in r["widgets"])
        w.type("lock 3,1")
        w.key("Return")
        w.wait(lambda r: r["locked"] == [3, 1] and r.get("shown_text") == r["text"])
        w.type("x")
        w.wait(
            lambda r: (
                r["text"] == SENTENCE + " ax"
                and r["locked"] is None
                and r.get("shown_text") == r["text"]
            )
        )
        w.type("y")
        w.wait(
            lambda r: (
                r["text"] == SENTENCE + " axy"
                and r["locked"] is None
                and r.get("shown_text") == r["text"]
            )
        )


def why_another_model_is_not_compared_is_of_that_model(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        SENTENCE,
        "--view",
        "compare",
        "--do",
        "compare models; compare model /nothing here",
    ) as w:
        w.wait(lambda r: "/nothing here" in r["other_error"] and not r["busy"])
        w.key("ctrl+k")
        w.wait(lambda r: "palette/row/0" in r["widgets"])
        w.type(f"compare model {GPT2}")
        w.key("Return")
        w.wait(lambda r: not r["other_error"] and r["shown_text_b"] == SENTENCE and not r["busy"])
