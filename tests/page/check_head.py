"""Checks of the view of a head: values, crosshair, lock, keys, thumbnails."""

import re

import samples
from steps import cell, check, count, edge, opened, settle, text, wait_for_head


@check
def shows_the_strongest_key_of_the_last_query(browser):
    opened(browser, "stories")
    assert text(browser, ".cell .pair").startswith("red16→ball4"), text(browser, ".cell .pair")
    assert "layer 1, head 2 · induction" in text(browser, "#where")
    assert count(browser, ".text .token") == 17


@check
def hover_shows_the_weight_in_panel_and_card(browser):
    opened(browser, "stories")
    browser.move(*cell(browser, 9, 4, 17, 17))
    assert text(browser, ".cell .pair").startswith("blue9→ball4")
    value = text(browser, ".cell .pair b")
    assert value in text(browser, ".card"), text(browser, ".card")
    assert re.search(r"2nd of 10", text(browser, ".card")), text(browser, ".card")


@check
def card_never_covers_its_row(browser):
    opened(browser, "stories")
    for query in range(17):
        x, y = cell(browser, query, min(query, 12), 17, 17)
        browser.move(x, y)
        left, top, wide, high = edge(browser, ".card")
        half = edge(browser, ".hit")[3] / 17 / 2
        assert top + high <= y - half + 1 or top >= y + half - 1, (query, top, high, y)
        assert left >= 0 and left + wide <= 1200


@check
def hidden_cells_read_masked(browser):
    opened(browser, "stories")
    browser.move(*cell(browser, 2, 9, 17, 17))
    assert text(browser, ".cell .pair b") == "masked"


@check
def click_locks_and_escape_unlocks(browser):
    opened(browser, "stories")
    browser.click(*cell(browser, 12, 1, 17, 17))
    browser.move(600, 880)
    assert text(browser, ".state") == "locked; Esc unlocks"
    browser.move(*cell(browser, 5, 0, 17, 17))
    assert text(browser, ".cell .pair").startswith(".5→Lily0"), "hover previews"
    browser.move(600, 880)
    assert text(browser, ".cell .pair").startswith("Lily12→had1"), "and returns to the lock"
    browser.key("Escape")
    assert text(browser, ".state") == "hover; a click locks"


@check
def arrows_change_head_and_layer(browser):
    opened(browser, "stories")
    browser.key("ArrowRight")
    wait_for_head(browser, "layer 1, head 3")
    for _ in range(4):
        browser.key("ArrowLeft")
    wait_for_head(browser, "layer 1, head 7")
    browser.key("PageDown")
    wait_for_head(browser, "layer 2, head 7")
    browser.key("PageUp")
    browser.key("PageUp")
    browser.key("PageUp")
    wait_for_head(browser, "layer 0, head 7")


@check
def keyboard_moves_the_crosshair_and_speaks(browser):
    opened(browser, "stories")
    browser.run("document.querySelector('.hit').focus()")
    browser.key("ArrowUp")
    assert text(browser, ".cell .pair").startswith("the15→ball4")
    browser.key("ArrowLeft", shift=True)
    assert text(browser, ".cell .pair").startswith("the15→red3")
    browser.key("Enter")
    assert text(browser, "#live").endswith("locked"), text(browser, "#live")
    assert "the 15 to red 3: 0." in text(browser, "#live")


@check
def tab_reaches_everything(browser):
    opened(browser, "stories")
    seen = []
    for _ in range(14):
        browser.key("Tab")
        seen.append(browser.run("document.activeElement.className || "
                                "document.activeElement.dataset.view || "
                                "document.activeElement.textContent"))  # fmt: skip
    for one in ("theme", "Picture", "Table", "head", "hit", "grid"):
        assert one in seen, (one, seen)


@check
def thumbnails_fill_and_open_a_head(browser):
    opened(browser, "stories")
    filled = """(c => {
      const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      let opaque = 0;
      for (let i = 3; i < data.length; i += 4) opaque += data[i] > 0;
      return opaque / data.length * 4;
    })"""
    settle(browser, f"{filled}(document.querySelector('.grid canvas')) > 0.25")
    left, top, _, _ = edge(browser, ".grid canvas")
    browser.click(left + 28 + 39 * 5 + 10, top + 24 + 39 * 2 + 10)
    wait_for_head(browser, "layer 2, head 5")


@check
def colors_are_those_of_the_map(browser):
    """Reads the map's pixels: the color of a weight is the color map's entry of its share."""
    opened(browser, "stories", scale=1)
    value = float(text(browser, ".cell .pair b"))
    beam = samples.maps_of("beam_light")
    left, top, wide, high = edge(browser, ".hit")
    figure_left, figure_top, _, _ = edge(browser, ".figure canvas")
    x, y = left - figure_left + 4.5 * wide / 17, top - figure_top + 16.5 * high / 17
    got = browser.run(f"Array.from(document.querySelector('.figure canvas').getContext('2d')"
                      f".getImageData({int(x)}, {int(y)}, 1, 1).data)")  # fmt: skip
    want = [beam[round(255 * value) + d] for d in (-1, 0, 1)]
    assert f"#{bytes(got[:3]).hex()}" in want, (got, want)


@check
def square_root_scale_is_named(browser):
    opened(browser, "stories")
    browser.run("document.querySelector('.quiet').click()")
    assert text(browser, ".quiet") == "Linear scale"
    assert not browser.faults
