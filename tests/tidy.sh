#!/bin/sh
# clang-tidy over the batches of a build with clang and its precompiled headers, so that each header is read once for eight
# files: tests/tidy.sh BUILD core|app|cli…
build=$1
shift
for part in "$@"; do ls "$build/CMakeFiles/headlight_$part.dir/Unity"/*.cxx || exit 1; done | xargs -n 1 -P 2 clang-tidy --quiet -p "$build"
