#!/bin/sh
# Makes the README's pictures with the program itself, so that they are never stale: assets/readme/make.sh [build/headlight]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/../../build/headlight}
text='Lily had a red ball. Tom had a blue ball. Lily gave Tom the red'
window() { xvfb-run -a "$program" --screenshot "$here/$1.png" --size 1600x1000 --scale 1 --text "$text" --head 1.1 --lock 16,4 --theme "$2"; }
window window-dark dark
window window-light light
"$program" render --text "$text" --view head --layer 1 --head 1 --width-mm 120 --dpi 144 -o "$here/head.png"
