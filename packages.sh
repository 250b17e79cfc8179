# What Headlight needs from the system's package manager; read by ./run and ./test.
BUILD_PACKAGES="g++ cmake ninja-build pkg-config libimgui-dev libstb-dev libglfw3-dev libx11-dev libepoxy-dev libeigen3-dev nlohmann-json3-dev libcairo2-dev libpango1.0-dev libfontconfig-dev libfreetype-dev libspng-dev libturbojpeg0-dev zlib1g-dev libonig-dev libutf8proc-dev libcli11-dev libcurl4-openssl-dev"
RUN_PACKAGES="ca-certificates libgl1-mesa-dri libegl1 libgl1 fonts-inter fonts-jetbrains-mono"
TEST_PACKAGES="doctest-dev libbenchmark-dev clang clang-format clang-tidy lld libclang-rt-14-dev xvfb xdotool x11-apps x11-utils x11-xkb-utils python3 python3-xlib poppler-utils librsvg2-bin chromium firefox-esr python3-venv time fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji dpkg-dev shared-mime-info libglib2.0-bin"
LONG_TEST_PACKAGES="ibus ibus-anthy dbus python3-gi gir1.2-ibus-1.0 debootstrap"  # ./test long: composing Japanese, a bare Debian
# Python's, for ./test long: TransformerLens with what it imports, and no more of what it names; nnsight, which names nothing that would change the rest.
TRANSFORMER_LENS="transformer-lens==4.3.0 accelerate beartype einops fancy_einsum jaxtyping wadler-lindig typeguard better-abc pandas python-dateutil six datasets pyarrow dill multiprocess xxhash psutil"
NNSIGHT="nnsight==0.8.1"

# Installs those of the named packages that are missing; says what it will install first.
install_missing() {
    command -v dpkg-query >/dev/null 2>&1 || return 0
    missing=""
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    echo "Headlight needs these packages and installs them now:$missing" >&2
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 || { echo "They need root: run 'apt-get install$missing' as root, then try again." >&2; return 1; }
        as_root=sudo
    fi
    $as_root apt-get update -qq >&2
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}
