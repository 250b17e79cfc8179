"""Activation patching: the map fills in beside the window, a click applies a patch."""

import subprocess
import time

from drive import Window
from places import PROGRAM

CLEAN, CORRUPTED = (
    "Mia had a red ball. Tom had a blue car. Mia gave Tom the red",
    "Mia had a blue ball. Tom had a red car. Mia gave Tom the red",
)


def _all(r):
    done, cells, _ = r.get("patched", [0, 1, ""])
    return done == cells and not r["busy"]


def _whole(cells):
    return lambda r: r.get("patched", [0, 0, ""])[:2] == [cells, cells] and not r["busy"]


def a_patch_is_found_and_applied(display):
    with Window(
        PROGRAM, display, "--text", CORRUPTED, "--do", "view patch; metric ball - car"
    ) as w:
        w.wait(
            lambda r: (
                r["view"] == "Patch"
                and "patch/clean" in r["widgets"]
                and "patch/map" not in r["widgets"]
            )
        )
        w.click("patch/clean")
        w.click("patch/clean/another text")
        w.wait(lambda r: "other" in r["widgets"])
        w.fill("other", CLEAN, lambda r: r["shown_text_b"] == CLEAN)
        r = w.wait(
            lambda r: (
                r.get("patched")
                and r["patched"][0] == r["patched"][1] > 32
                and "patch/map" in r["widgets"]
                and "patch/cancel" not in r["widgets"]
            )
        )
        assert r["patched"][1] == 4 * len(r["tokens"]), r["patched"]
        w.click("patch/put")
        w.click("patch/put/heads")
        w.wait(_whole(32))
        before = w.wait(lambda r: "patch/map" in r["widgets"] and not r["busy"])["metric_now"][1]
        w.click("patch/map", (1 + 0.5) / 8, (1 + 0.5) / 4)  # head 1.1
        r = w.wait(lambda r: r["changes"] == 1 and r["metric_now"][1] != before and not r["busy"])
        assert r["change_list"] == [f"patch-head:*@1.1={CLEAN}"], r["change_list"]
        assert r["metric_now"][1] > before
        assert r["patched"][:2] == [32, 32], "the map is of the runs without it"
        w.click("patch/map", (1 + 0.5) / 8, (1 + 0.5) / 4)
        w.wait(lambda r: r["changes"] == 0 and not r["busy"])
        exact = (
            w.wait(lambda r: "patch/agreement" in r["widgets"] and not r["busy"]) and w.picture()
        )
        w.click("patch/values")
        w.click("patch/values/estimated")
        w.wait(lambda r: r["patch_estimates"] and not r["busy"])
        assert w.picture() != exact, "estimates in place of what is measured"
        w.click("patch/values")
        w.click("patch/values/exact")
        w.wait(lambda r: not r["patch_estimates"] and not r["busy"])
        w.fill(
            "other",
            "Mia had a very red ball. Tom had a blue car. Mia gave Tom the red",
            lambda r: r.get("patched", [0, 0, ""])[2],
        )
        assert "tokens" in w.report()["patched"][2]


def the_list_beside_the_map_says_what_the_map_shows(display):
    """With estimates on the map, those that bring back most are listed by their estimates."""
    both = [CLEAN, "--corrupted", CORRUPTED, "--metric", "ball - car"]
    best = lambda *more: max(
        float(v)
        for row in subprocess.run(
            [PROGRAM, "patch", "--clean", *both, *more], capture_output=True, text=True, check=True
        ).stdout.splitlines()[1:]
        for v in row.split(",")[1:]
    )
    listed = lambda r, value: f"{value:.3f}" in r.get("texts", []) and not r["busy"]
    exact, estimated = best(), best("--estimate")
    with Window(
        PROGRAM,
        display,
        "--text",
        CORRUPTED,
        "--do",
        f"compare sentences; compare text {CLEAN}; metric ball - car; view patch",
        "--report-texts",
    ) as w:
        w.wait(
            lambda r: (
                listed(r, exact) and "restored" in r["texts"] and r["patched"][0] == r["patched"][1]
            )
        )
        w.click("patch/values")
        w.click("patch/values/estimated")
        r = w.wait(lambda r: r["patch_estimates"] and listed(r, estimated))
        assert "restored" not in r["texts"] and f"{exact:.3f}" not in r["texts"], r["texts"]


def patching_shows_an_example_by_a_click(display):
    with Window(PROGRAM, display, "--text", "Lily had", "--do", "view patch") as w:
        w.wait(lambda r: "patch/example" in r["widgets"] and not r["busy"])
        w.click("patch/example")
        w.wait(
            lambda r: (
                "patch/map" in r["widgets"]
                and "patch/example" in r["widgets"]  # also beside a second sentence
                and r["metric"] == '" ball" - " car"'
            )
        )


def a_slide_of_patching_has_both_texts_and_no_buttons(display):
    with Window(PROGRAM, display, "--view", "patch", "--report-texts") as w:
        w.settled()
        w.click("patch/example")
        w.wait(lambda r: "patch/map" in r["widgets"] and not r["busy"])
        w.key("F5")
        r = w.wait(lambda r: "present/next" in r["widgets"] and "patch/map" in r["widgets"])
        assert {"Clean", "Corrupted"} <= set(r["texts"]), r["texts"]
        controls = {"save", "patch/example", "metric/patch", "other", "patch/put"}
        assert not controls & set(r["widgets"]), controls & set(r["widgets"])


def patching_between_unrelated_texts_warns(display):
    """The map still shows; the corrupted text is named, and the example one click away."""
    other = "One day a little dog went to the park with his mom and saw a big tree"
    with Window(
        PROGRAM, display, "--text", CORRUPTED, "--do", f"compare text {other}; view patch"
    ) as w:
        shown = {"patch/warning", "patch/map", "patch/corrupted", "patch/example"}
        w.wait(lambda r: shown <= set(r["widgets"]) and not r["busy"])
        w.click("patch/example")
        w.wait(lambda r: _all(r) and "patch/warning" not in r["widgets"])


def a_map_of_patches_is_cancelled_and_begun_again(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        CORRUPTED,
        "--do",
        "patch measure off; compare text " + CLEAN + "; metric ball - car; view patch",
    ) as w:
        w.wait(lambda r: "patch/measure" in r["widgets"] and not r.get("patched") and not r["busy"])
        w.click("patch/measure")
        w.wait(lambda r: "patch/map" in r["widgets"] and "patch/measure" not in r["widgets"])
        w.wait(lambda r: r["patched"][0] == r["patched"][1] > 0)


def a_cancelled_map_of_patches_keeps_what_is_measured(display):
    """Cancelled in the middle, the map stays and says how far it is; going on measures the rest."""
    long = " ".join([CORRUPTED + " ball."] * 6)
    with Window(
        PROGRAM,
        display,
        "--text",
        long + " " + CORRUPTED,
        "--do",
        "patch measure off; compare text " + long + " " + CLEAN + "; metric ball - car; view patch",
    ) as w:
        w.wait(
            lambda r: (
                "patch/measure" in r["widgets"]
                and not r["busy"]
                and r["shown_text_b"].endswith(CLEAN)
            )
        )
        w.click("patch/measure")
        w.wait(
            lambda r: "patch/cancel" in r["widgets"] and 0 < r["patched"][0] < r["patched"][1], 30
        )
        w.click("patch/cancel")
        r = w.wait(
            lambda r: (
                "patch/cancelled" in r["widgets"] and "patch/map" in r["widgets"] and not r["busy"]
            )
        )
        done, cells = r["patched"][:2]
        assert 0 < done < cells, (done, cells)
        time.sleep(0.5)
        assert w.report()["patched"][:2] == [done, cells], "nothing goes on in the background"
        w.click("patch/measure")
        w.wait(lambda r: r["patched"][0] > done)
        w.wait(
            lambda r: (
                r["patched"][0] == r["patched"][1] == cells
                and "patch/cancelled" not in r["widgets"]
            ),
            60,
        )


def what_an_intervention_takes_is_put_back(display):
    with Window(
        PROGRAM,
        display,
        "--text",
        CLEAN,
        "--do",
        "ablate 1.1:zero; compare changes; patch put heads; view patch; metric ball - car",
    ) as w:
        w.wait(_whole(32))
        w.point("patch/map", (1 + 0.5) / 8, (1 + 0.5) / 4)
        w.wait(lambda r: r["changes"] == 1 and "patch/map" in r["widgets"])
