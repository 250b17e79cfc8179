#!/bin/sh
# Builds assets/live/engine.wasm.deflate: the engine of pages in which the reader types. The result is kept in the
# repository, so that ./run needs no compiler for WebAssembly. Run it after a change of core/ that changes numbers.
#
#   assets/live/engine/build.sh [FOLDER [FILE]]   FOLDER keeps downloads and objects (default: build/live), FILE is written
#
# Needs of Debian 12: emscripten cmake ninja-build libeigen3-dev nlohmann-json3-dev curl python3.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=${1:-$root/build/live}
out=${2:-$root/assets/live/engine.wasm.deflate}
pool=${HEADLIGHT_DEBIAN:-http://deb.debian.org/debian}/pool/main  # the sources are checked by their hashes
for tool in emcc cmake ninja curl python3; do
    command -v "$tool" >/dev/null || { echo "build.sh needs $tool: apt-get install emscripten cmake ninja-build curl python3" >&2; exit 77; }
done

# Debian's packages of these are built for this processor alone, so their sources are.
mkdir -p "$folder/include"
folder=$(cd "$folder" && pwd)
unpack() {  # address, SHA-256, folder in the archive, name
    archive=$folder/$(basename "$1")
    [ -f "$archive" ] || curl -sSfL -o "$archive" "$pool/$1"
    echo "$2  $archive" | sha256sum -c --quiet
    [ -d "$folder/$3" ] || tar xf "$archive" -C "$folder"
    ln -sfn "$3" "$folder/$4"
}
unpack libo/libonig/libonig_6.9.8.orig.tar.gz 26372720bab6733c869a9eb69377f73971138dc5e3eff4a81f5ba8aea5435fb2 oniguruma-6.9.8 oniguruma
unpack u/utf8proc/utf8proc_2.8.0.orig.tar.gz a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc utf8proc-2.8.0 utf8proc
ln -sfn /usr/include/eigen3/Eigen "$folder/include/Eigen"
ln -sfn /usr/include/nlohmann "$folder/include/nlohmann"

export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"  # Debian's modules of emscripten, whichever node runs them
cmake -G Ninja -S "$root/assets/live/engine" -B "$folder/objects" -DCMAKE_BUILD_TYPE=MinSizeRel -DLIVE_DEPENDENCIES="$folder" \
    -DCMAKE_TOOLCHAIN_FILE=/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake -Wno-dev >"$folder/cmake.log"
ninja -C "$folder/objects" live >"$folder/ninja.log" || { grep -m 20 'error' "$folder/ninja.log" >&2; exit 1; }
python3 - "$folder/objects/live.wasm" "$out" <<'END'
import pathlib, sys, zlib

packer = zlib.compressobj(9, zlib.DEFLATED, -15)
wasm = pathlib.Path(sys.argv[1]).read_bytes()
packed = packer.compress(wasm) + packer.flush()
pathlib.Path(sys.argv[2]).write_bytes(packed)
print(f"{sys.argv[2]}: {len(wasm)} bytes, compressed {len(packed)}")
END
