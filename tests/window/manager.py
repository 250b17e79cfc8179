#!/usr/bin/env python3
"""A window manager that does one thing: windows are maximized and restored as EWMH says. manager.py
DISPLAY; 'ready' when it manages. https://specifications.freedesktop.org/wm-spec/latest/"""

import sys

from Xlib import X, Xatom
from Xlib import display as xlib

REMOVE, ADD, TOGGLE = range(3)


class Manager:
    def __init__(self, name):
        self.display = xlib.Display(name)
        self.screen = self.display.screen()
        self.root, self.before = self.screen.root, {}
        self.state, self.check, self.supported, *self.maximized = (
            self.display.intern_atom(n)
            for n in (
                "_NET_WM_STATE",
                "_NET_SUPPORTING_WM_CHECK",
                "_NET_SUPPORTED",
                "_NET_WM_STATE_MAXIMIZED_VERT",
                "_NET_WM_STATE_MAXIMIZED_HORZ",
            )
        )
        self.root.change_attributes(
            event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask
        )
        own = self.root.create_window(-1, -1, 1, 1, 0, self.screen.root_depth)
        for window in (self.root, own):
            window.change_property(self.check, Xatom.WINDOW, 32, [own.id])
        self.root.change_property(
            self.supported, Xatom.ATOM, 32, [self.state, self.check, *self.maximized]
        )
        self.display.sync()

    def is_maximized(self, window):
        held = window.get_full_property(self.state, Xatom.ATOM)
        return held is not None and set(self.maximized) <= set(held.value)

    def maximize(self, window):
        if window.id not in self.before:
            g = window.get_geometry()
            self.before[window.id] = (g.x, g.y, g.width, g.height)
        window.change_property(self.state, Xatom.ATOM, 32, self.maximized)
        window.configure(
            x=0, y=0, width=self.screen.width_in_pixels, height=self.screen.height_in_pixels
        )

    def restore(self, window):
        window.change_property(self.state, Xatom.ATOM, 32, [])
        x, y, width, height = self.before.pop(window.id)
        window.configure(x=x, y=y, width=width, height=height)

    def handle(self, event):
        if event.type == X.MapRequest:
            if self.is_maximized(event.window):
                self.maximize(event.window)
            event.window.map()
        elif event.type == X.ConfigureRequest and event.window.id not in self.before:
            asked = {
                name: getattr(event, name)
                for name, bit in (
                    ("x", X.CWX),
                    ("y", X.CWY),
                    ("width", X.CWWidth),
                    ("height", X.CWHeight),
                )
                if event.value_mask & bit
            }
            event.window.configure(**asked)
        elif event.type == X.UnmapNotify and event.window.id in self.before:
            del self.before[event.window.id]
            event.window.delete_property(self.state)
        elif event.type == X.ClientMessage and event.client_type == self.state:
            action, *which = event.data[1][:3]
            if set(which) & set(self.maximized):
                is_on = event.window.id in self.before
                if action == ADD or (action == TOGGLE and not is_on):
                    self.maximize(event.window)
                elif is_on:
                    self.restore(event.window)
        self.display.sync()

    def run(self):
        print("ready", flush=True)
        while True:
            event = self.display.next_event()
            try:
                self.handle(event)
            except Exception as gone:  # a window may end while it is spoken of
                print(gone, file=sys.stderr)


if __name__ == "__main__":
    Manager(sys.argv[1]).run()
