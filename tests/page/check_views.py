"""Checks of the other views: all heads, lines, text, prediction, compare, table, other kinds."""

import re

import samples
from steps import cell, check, count, edge, opened, press, show, text, wait_for_head


@check
def all_heads_open_one(browser):
    opened(browser, "stories")
    show(browser, "heads")
    left, top, _, _ = edge(browser, ".grid canvas")
    browser.click(left + 28 + 96 * 6 + 20, top + 24 + 96 * 3 + 20)
    wait_for_head(browser, "layer 3, head 6")
    assert browser.run("document.querySelector('[aria-selected=true]').dataset.view") == "head"


@check
def lines_isolate_a_token(browser):
    opened(browser, "stories")
    show(browser, "lines")
    left, top, wide, _ = edge(browser, ".lines")
    row = browser.run("(document.querySelector('.tall').offsetHeight - 36) / 17")
    browser.move(left + 180, top + 36 + 7.5 * row)
    assert text(browser, ".cell .pair").startswith("had7→"), text(browser, ".cell .pair")
    browser.move(left + wide - 180, top + 36 + 2.5 * row)
    assert "→a2" in text(browser, ".cell .pair"), text(browser, ".cell .pair")


@check
def text_turns_to_what_attends(browser):
    opened(browser, "stories")
    show(browser, "text")
    assert "what red 16 attends to" in text(browser, ".reading .caption")
    browser.run("document.querySelectorAll('.segments button')[1].click()")
    assert "how much each token attends to red 16" in text(browser, ".reading .caption")
    shaded = browser.run("document.querySelectorAll('.reading .token:not(.none)').length")
    assert shaded == 1, "only the last token can attend to the last"


@check
def prediction_lists_the_top_five(browser):
    opened(browser, "stories")
    show(browser, "lens")
    assert count(browser, ".lens tbody tr") == 5 and count(browser, ".lens tbody td") == 85
    assert count(browser, ".lens-cell li") == 5
    browser.run("document.querySelector('.lens td.on').focus()")
    browser.key("ArrowLeft")
    browser.key("ArrowUp")
    assert text(browser, ".lens-cell .pair").startswith("layer 2, after the 15"), text(
        browser, ".lens-cell .pair"
    )


@check
def compare_shows_the_difference(browser):
    opened(browser, "compare")
    amounts = browser.run("[...document.querySelectorAll('.one b')].map(b => b.textContent)")
    a, b, apart = (float(v.replace("−", "-")) for v in amounts)
    assert abs(a - b - apart) < 0.0015, amounts
    browser.move(*cell(browser, 3, 1, 17, 17))
    assert text(browser, ".compare > .pair").startswith("red 3 → had 1")


@check
def table_shows_every_weight(browser):
    opened(browser, "stories")
    press(browser, "Table")
    assert count(browser, "tbody tr") == 17 and count(browser, "tbody td") == 17 * 17
    numbers = browser.run("[...document.querySelectorAll('tbody tr')].map(r => "
                          "[...r.querySelectorAll('td')]"
                          ".reduce((s, c) => s + Number(c.textContent), 0))")  # fmt: skip
    assert all(abs(total - 1) < 0.01 for total in numbers), numbers
    browser.key("Escape")
    assert count(browser, ".hit") == 1


@check
def long_tables_are_cut_and_say_so(browser):
    opened(browser, "many512")
    press(browser, "Table")
    assert "More than 64 tokens" in text(browser, ".numbers .caption")
    assert count(browser, "tbody tr") == 512 + 50


@check
def mixing_matrices_keep_their_sign(browser):
    opened(browser, "mixing")
    heads = samples.mixing_heads()
    for q, k in ((3, 0), (20, 7)):
        browser.move(*cell(browser, q, k, 24, 24))
        got = float(text(browser, ".cell .pair b").replace("−", "-"))
        assert abs(got - heads[0][q][k]) < 0.001, (q, k, got, heads[0][q][k])


@check
def sinks_complete_the_row(browser):
    opened(browser, "mixing")
    browser.key("PageDown")
    wait_for_head(browser, "layer 1")
    assert re.search(r"sink 0\.\d{3}", text(browser, ".about")), text(browser, ".about")


@check
def cross_attention_has_two_texts(browser):
    opened(browser, "translation")
    assert browser.run(
        "[...document.querySelectorAll('.named > .dim')].map(e => e.textContent)"
    ) == ["target", "source"]
    assert text(browser, ".state") == "locked; Esc unlocks"
    browser.move(*cell(browser, 10, 7, 11, 8))
    assert text(browser, ".cell .pair").startswith("!10→</s>7")
    browser.key("PageUp")
    wait_for_head(browser, "decoder 0")
    assert count(browser, ".named") == 0
