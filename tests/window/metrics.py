"""The metric: chosen once, by menu, palette and click, and followed by every view; the menu of a
token."""

from drive import Window
from places import LILY, PROGRAM


def _shows(word):
    return lambda r: word in r["widgets"]


def a_difference_is_chosen_once(display):
    """Prediction, ΔE and the ranking by effect follow it; undo brings it back; its cross, the
    default."""
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY, "--do", "view lens") as w:
        w.settled()
        r = w.wait(
            lambda r: (
                r.get("metric_label") == "log p ball"
                and r["metric"] == ""
                and r["explained"][1] == -1
            )
        )
        w.click("metric/lens")
        w.wait(_shows("metric/kind/A − B"))
        w.click("metric/kind/A − B")
        w.wait(lambda r: r["metric"].startswith('" ball" - '))
        w.fill(
            "metric/typed",
            "car",
            lambda r: (
                "metric/token/␣car" in r["widgets"] and "metric/token/␣ball" not in r["widgets"]
            ),
        )
        w.key("Return")
        w.wait(lambda r: r["metric"] == '" ball" - " car"' and r["metric_label"] == "ball − car")
        w.key("Escape")
        r = w.wait(
            lambda r: "metric menu" not in r["widgets"] and r["explained"][1] >= 0 and not r["busy"]
        )
        ball, car = r["explained"][:2]
        assert abs(r["explained"][2] - r["metric_now"][1]) < 1e-3, (
            "what the parts sum to is the metric"
        )
        w.show("Update (ΔE)")
        w.wait(lambda r: r.get("explained_delta") == [ball, car] and "metric/delta" in r["widgets"])
        w.show("Heat map")
        w.click("rank")
        w.click("rank/effect on ball − car")
        w.wait(
            lambda r: (
                r["swept"] == "ended"
                and "metric/rank/default" in r["widgets"]
                and any(p.startswith("ranked/") for p in r["widgets"])
            )
        )
        w.key("ctrl+z")
        w.wait(lambda r: r["metric"].startswith('" ball" - ') and r["metric"] != '" ball" - " car"')
        w.key("ctrl+y")
        w.wait(lambda r: r["metric"] == '" ball" - " car"')
        w.click("metric/rank/default")
        w.wait(
            lambda r: (
                r["metric"] == "" and r["metric_label"] == "log p ball" and r["swept"] == "ended"
            )
        )


def the_metric_by_palette_and_by_click(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY, "--do", "view lens") as w:
        w.settled()
        w.wait(_shows("lens/next/1"))
        w.key("ctrl+k")
        w.wait(_shows("palette"))
        w.type("metric ball - car")
        w.key("Return")
        w.wait(lambda r: r["metric"] == '" ball" - " car"')
        w.click("metric/lens/default")
        w.wait(lambda r: r["metric"] == "")
        w.tool("keydown", "ctrl")
        w.click("lens/next/1")
        w.tool("keyup", "ctrl")
        w.wait(lambda r: r["metric"].startswith('" ball" - ') and r["text"] == LILY)


def a_divergence_needs_a_change(display):
    with Window(PROGRAM, display, "--head", "1.2", "--text", LILY, "--do", "metric kl") as w:
        w.settled()
        r = w.wait(lambda r: r["metric"] == "kl" and "metric_now" in r)
        assert "No interventions" in r["metric_now"][2], r["metric_now"]
        w.key("Escape")
        w.click("change/ablate")
        w.wait(lambda r: r["changes"] == 1 and r["metric_now"][1] > 0 and r["metric_now"][2] == "")


def no_line_of_the_token_menu_is_cut(display):
    with Window(PROGRAM, display, "--text", LILY, "--do", "token menu 4", "--report-texts") as w:
        texts = w.wait(lambda r: "token/count" in r["widgets"] and "Copy" in r.get("texts", []))[
            "texts"
        ]
        assert "Break down its score" in texts, [text for text in texts if text.startswith("Break")]


def a_token_has_a_menu(display):
    """By the right button on its chip: masked, undone, counted; by the Menu key on the token in
    focus: explained."""
    with Window(PROGRAM, display, "--head", "1.2", "--lock", "10,4", "--text", LILY) as w:
        w.settled()
        w.point("chip/4")
        w.tool("click", "3")
        w.click("token/mask")
        w.wait(lambda r: r["change_list"] == ["mask:*>4"] and "token menu" not in r["widgets"])
        w.key("ctrl+z")
        w.wait(lambda r: r["changes"] == 0)
        w.point("chip/4")
        w.tool("click", "3")
        w.click("token/count")
        r = w.wait(lambda r: r["counted"] == [4, 10])
        assert "occurs 2 times, at 4 and 10" in r["notice"], r["notice"]
        w.tool("mousemove", "800", "990")
        w.key("Menu")
        w.wait(lambda r: r["focus"] == "token/mask")
        for entry in ("query", "origins", "explain"):
            w.key("Down")
            w.wait(lambda r: r["focus"] == "token/" + entry)
        w.key("Return")
        w.wait(
            lambda r: (
                r["metric"] == 'log p " ball"@9'
                and r["view"] == "Prediction"
                and r.get("explained", [0] * 4)[3] == 9
            )
        )
        w.key("Menu")
        w.wait(_shows("token menu"))
        w.key("Escape")
        w.wait(lambda r: "token menu" not in r["widgets"])
