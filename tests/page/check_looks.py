"""Checks of themes, phones, pictures and time."""

import struct
import time

from steps import FOLDER, cell, check, count, opened, press, sample, text

SLOW = 10.0  # times the budget: other work on the same computer must not fail a test


@check
def themes_follow_button_and_system(browser):
    opened(browser, "stories")
    press(browser, "Dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert browser.run(ground) == "rgb(19, 22, 26)"
    browser.prefer("dark")
    opened(browser, "auto")
    assert browser.run(ground) == "rgb(19, 22, 26)"
    browser.prefer("light")
    assert browser.run(ground) == "rgb(246, 247, 248)"
    browser.prefer("")


@check
def prints_light(browser):
    opened(browser, "stories")
    press(browser, "Dark")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("document.documentElement.dataset.theme") == "light"
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("document.documentElement.dataset.theme") == "dark"


@check
def drag_on_a_phone_moves_the_crosshair(browser):
    opened(browser, "stories", 390, 844, 2, True)
    browser.touch("touchStart", [cell(browser, 5, 2, 17, 17)])
    browser.touch("touchMove", [cell(browser, 9, 4, 17, 17)])
    assert text(browser, ".cell .pair").startswith("blue9→ball4"), text(browser, ".cell .pair")
    browser.touch("touchEnd", [])
    assert text(browser, ".cell .pair").startswith("blue9→ball4"), "it stays"
    assert browser.run("!document.querySelector('.card') || document.querySelector('.card').hidden")


@check
def targets_on_a_phone_are_large(browser):
    opened(browser, "stories", 390, 844, 2, True)
    small = browser.run("[...document.querySelectorAll('button')].filter(b => b.offsetParent)"
                        ".filter(b => b.getBoundingClientRect().height < 44)"
                        ".map(b => b.textContent)")  # fmt: skip
    assert small == [], small


@check
def canvases_are_sharp(browser):
    opened(browser, "stories", scale=2)
    ratio = browser.run(
        "(c => c.width / c.getBoundingClientRect().width)(document.querySelector('.figure canvas'))"
    )
    assert abs(ratio - 2) < 0.01, ratio


@check
def picture_is_a_png_of_the_page(browser):
    browser.save_in(FOLDER)
    opened(browser, "stories")
    press(browser, "Picture")
    end = time.monotonic() + 30
    while not (found := list(FOLDER.glob("Where*.png"))):  # other checks draw there too
        assert time.monotonic() < end, "no picture"
        time.sleep(0.1)
    time.sleep(0.3)
    data = found[0].read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (2400, 1800), struct.unpack(">II", data[16:24])
    assert found[0].name == "Where “red” finds its ball 1.2.png", found[0].name


@check
def opens_144_heads_of_512_tokens_in_time(browser):
    browser.resize(1200, 900)
    seconds = browser.open(sample("many512"))
    print(f"     opened in {seconds:.2f} s")
    assert seconds < 2 * SLOW
    assert count(browser, ".text .token") == 512


@check
def hover_at_512_tokens_in_time(browser):
    opened(browser, "many512")
    times = browser.run("""(() => {
      const hit = document.querySelector('.hit');
      const edge = hit.getBoundingClientRect();
      const times = [];
      for (let i = 0; i < 200; i++) {
        const at = { pointerType: 'mouse', bubbles: true,
          clientX: edge.left + (i * 37) % edge.width,
          clientY: edge.top + (i * 53) % edge.height };
        const start = performance.now();
        hit.dispatchEvent(new PointerEvent('pointermove', at));
        document.body.getBoundingClientRect();
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b);
    })()""")
    print(f"     hover {times[100]:.1f} ms, at most {times[-1]:.1f} ms")
    assert times[100] < 16


@check
def prints_the_map_from_the_dark_page(browser):
    """Prints to PDF: the map's colored cells must be in it, though the screen was dark."""
    opened(browser, "stories")
    time.sleep(1)  # until the thumbnails are filled
    light = len(browser.printed())
    press(browser, "Dark")
    dark = len(browser.printed())
    assert abs(dark - light) < 0.1 * light, (light, dark)
