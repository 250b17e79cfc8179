"""Two processes that serve models together: two_ranks.py FILE FOLDER…. They meet by a file, and
share what they import. The first one prints the other's number, then an address for each folder,
and serves until a line comes, or says why not; the last folder is served as `python -m headlight
live` does."""

import os
import sys
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", WORLD_SIZE="2")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models/python"))
import headlight
import torch
import torch.distributed.tensor
import transformers
import transformers.masking_utils
from headlight.engine import command

FILE, *FOLDERS, LAST = sys.argv[1:]


def serve(folder):
    server = headlight.live(*command.load(command.parser().parse_args([folder])))
    if server.address:
        print(server.address, flush=True)
        sys.stdin.readline()
        server.close()
    server.wait()


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    other = os.fork()
    os.environ["RANK"] = os.environ["LOCAL_RANK"] = "0" if other else "1"
    if other:
        print(other, flush=True)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{FILE}", rank=0 if other else 1, world_size=2
    )
    for folder in FOLDERS:
        try:
            serve(folder)
        except headlight.HeadlightError as problem:
            if other:
                print(f"refused: {problem}", flush=True)
    command.main([LAST])


main()
