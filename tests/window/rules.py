"""Rules for whole layers: rows of the list of interventions, made and taken back by a click."""

from drive import Window
from places import LILY, PROGRAM


def rules_of_whole_layers_by_a_click(display):
    """The list of interventions: the shown cell masked in this layer, from here on in the last
    alone, each taken back in its row."""
    with Window(PROGRAM, display, "--head", "1.2", "--lock", "16,3", "--text", LILY) as w:
        w.settled()
        w.show("Mask and ablate")
        w.click("rules")
        w.wait(lambda r: r["list"] == "rules" and "rule/this layer" in r["widgets"])
        w.click("rule/this layer")
        w.wait(lambda r: r["change_list"] == ["mask:16>3@1"] and "rule/remove/0" in r["widgets"])
        w.click("rule/cells/from here on")
        w.click("rule/only the last layer")
        w.wait(lambda r: r["change_list"] == ["mask:16>3@1", "mask:16..>3@3"] and not r["busy"])
        w.click("rule/only the last layer")
        w.wait(lambda r: r["change_list"] == ["mask:16>3@1"])
        w.click("rule/do/unmask")
        w.click("rule/cells/column")
        w.click("rule/all layers")
        w.wait(lambda r: r["change_list"] == ["mask:16>3@1", "unmask:*>3"])
        w.click("rule/remove/0")
        w.wait(lambda r: r["change_list"] == ["unmask:*>3"] and "rule/remove/1" not in r["widgets"])
        w.key("Escape")
        w.wait(
            lambda r: (
                r["list"] == "" and "rule/this layer" not in r["widgets"] and r["text"] == LILY
            )
        )
    with Window(
        PROGRAM,
        display,
        "--model",
        "translator",
        "--text",
        "I have seen him.",
        "--head",
        "cross.1.0",
        "--view",
        "alignment",
        "--do",
        "intervene on",
    ) as w:
        w.settled()
        w.click("rules")
        w.wait(lambda r: "rule/all cross-attention" in r["widgets"])
        w.click("rule/cells/column")
        w.click("rule/all cross-attention")
        w.wait(
            lambda r: (
                len(r["change_list"]) == 1
                and r["change_list"][0].startswith("mask:*>")
                and r["change_list"][0].endswith("@cross")
                and not r["busy"]
            )
        )


def a_brush_on_this_layer(display):
    with Window(
        PROGRAM,
        display,
        "--head",
        "1.2",
        "--text",
        LILY,
        "--do",
        "intervene on; brush on this layer; temperature 0.5@1",
    ) as w:
        n = len(w.settled()["tokens"])
        w.click("brush/mask")
        w.drag("map", (3.5 / n, 16.5 / n), (3.5 / n, 16.5 / n), steps=1)
        w.wait(lambda r: r["change_list"] == ["temperature:0.5@1", "mask:16>3@1"])
