"""Experts of a mixture, looked at and switched off."""

from drive import Window
from places import PROGRAM, REFERENCE


def experts_are_switched_off_and_on(display):
    """A click on an expert leaves its part out, a second one puts it back; a click on a cell of the
    lane shows that layer's router."""
    model = ["--model", REFERENCE / "mixtral"]
    with Window(PROGRAM, display, *model, "--view", "experts", "--text", "The old harbour") as w:
        router = lambda r, layer: f"experts/router/{layer}.0" in r["widgets"]
        w.point("experts/lane", 0.9, 0.3)
        w.click("experts/lane", 0.9, 0.3)
        w.wait(lambda r: router(r, 0) and not r["busy"])
        w.click("experts/taken/0.1")
        w.wait(lambda r: r["change_list"] == ["ablate-expert:0.1"] and not r["busy"])
        w.click("experts/router/0.1")
        w.wait(lambda r: r["changes"] == 0 and not r["busy"])
        w.click("experts/lane", 0.9, 0.95)
        w.wait(lambda r: router(r, 2) and not r["busy"])
