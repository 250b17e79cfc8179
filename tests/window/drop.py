#!/usr/bin/env python3
"""Drop a path on a window: the source's side of XDND version 5 (freedesktop.org)."""

import sys
import time
from pathlib import Path

from Xlib import X, display
from Xlib.protocol import event

d = display.Display()
target = d.create_resource_object("window", int(sys.argv[1]))
uri = (Path(sys.argv[2]).absolute().as_uri() + "\r\n").encode()
atom = d.intern_atom
source = d.screen().root.create_window(0, 0, 1, 1, 0, d.screen().root_depth)
selection, uri_list = atom("XdndSelection"), atom("text/uri-list")
source.set_selection_owner(selection, X.CurrentTime)


def send(name, *data):
    values = [source.id, *data] + [0] * (4 - len(data))
    target.send_event(event.ClientMessage(window=target, client_type=atom(name), data=(32, values)))
    d.flush()


def wait_for(kind, seconds=5):
    """The next event of this kind; hands the data over meanwhile when the target asks for it."""
    end = time.time() + seconds
    while time.time() < end:
        if not d.pending_events():
            time.sleep(0.01)
            continue
        e = d.next_event()
        if e.type == X.SelectionRequest:
            e.requestor.change_property(e.property, e.target, 8, uri)
            e.requestor.send_event(
                event.SelectionNotify(
                    time=e.time,
                    requestor=e.requestor,
                    selection=e.selection,
                    target=e.target,
                    property=e.property,
                )
            )
            d.flush()
        elif e.type == X.ClientMessage and e.client_type == atom(kind):
            return e
    sys.exit(f"no {kind} from the window")


send("XdndEnter", 5 << 24, uri_list)
send("XdndPosition", 0, (200 << 16) | 200, X.CurrentTime, atom("XdndActionCopy"))
wait_for("XdndStatus")
send("XdndDrop", 0, X.CurrentTime)
wait_for("XdndFinished")
