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


def a_sink_stands_beside_the_keys(display):
    """A row of gpt-oss sums to 1 with its sink, which has a column, a name and a sentence."""
    options = ("--model", REFERENCE / "gpt_oss", "--head", "1.2", "--text", "The old harbour")
    with Window(PROGRAM, display, *options, "--report-texts") as w:
        r = w.wait(lambda r: "map/sink" in r["widgets"] and not r["busy"])
        assert any("sums to 1 with its sink" in t for t in r["texts"]), r["texts"]
        w.point("map/sink", 0.5, 0.5)
        w.wait(lambda r: any("goes to no token" in t for t in r["texts"]))


def what_goes_to_a_sink_is_said_in_every_view(display):
    """Lines name it above the keys, Flow lists it by layer, the inspector ends a row with it."""
    options = ("--model", REFERENCE / "gpt_oss", "--text", "The old harbour", "--report-texts")
    with Window(PROGRAM, display, *options, "--view", "lines", "--do", "lock 3,1") as w:
        w.wait(lambda r: "lines/sink" in r["widgets"] and "sink" in r["texts"] and not r["busy"])
        w.point("lines/sink", 0.5, 0.5)
        w.wait(lambda r: any("goes to no token" in t for t in r["texts"]))
    with Window(PROGRAM, display, *options, "--view", "graph", "--do", "graph by rollout") as w:
        w.wait(lambda r: any("Left to sinks" in t for t in r["texts"]) and not r["busy"])
    with Window(PROGRAM, display, *options, "--view", "head", "--do", "lock 3,1") as w:
        w.wait(lambda r: r["texts"].count("sink") >= 2 and not r["busy"])


def contacts_of_a_protein_are_mapped_and_listed(display):
    """A protein model has a map of residues; one without a contact head says why it has none."""
    protein = ("--model", REFERENCE / "esm", "--text", "MKTAYIAKQRQISFVKSH", "--view", "contacts")
    with Window(PROGRAM, display, *protein, "--report-texts") as w:
        r = w.wait(lambda r: "contacts/map" in r["widgets"] and not r["busy"])
        assert "18" in r["texts"], r["texts"]
        w.point("contacts/map", 0.1, 0.9)
        w.wait(lambda r: any("apart along the chain" in t for t in r["texts"]))
        w.click("contacts/apart")
        w.click("contacts/apart/12 or more apart")
        w.wait(lambda r: any(t.endswith("12+ apart") for t in r["texts"]))


def kinds_of_layers_are_named_and_kept_apart(display):
    """Hybrids name how each layer mixes tokens, and keep softmax or mixing heads."""
    for kind, kept in (("all", 10), ("softmax", 4), ("mixing", 6)):
        options = ("--model", REFERENCE / "lfm2", "--text", "The old harbour", "--view", "heads")
        more = ("--do", f"heads kind {kind}", "--report-texts")
        with Window(PROGRAM, display, *options, *more) as w:
            named = ("0 convolution", "1 attention", f"{kept} of 10 heads")
            w.wait(lambda r: all(t in r["texts"] for t in named) and not r["busy"])
