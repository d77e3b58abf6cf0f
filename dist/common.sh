# shellcheck shell=bash
# The common begin of the commands of this folder. Only target/packages is written here, and cargo's own folders.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/target/packages
target=${TARGET:-x86_64-unknown-linux-gnu}
# shellcheck disable=SC2034 # for those that read this
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml")
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
mkdir -p "$out/mindful.data"

# need TOOL HOW: ends in one line where the tool is missing.
need() {
  command -v "$1" >/dev/null || { echo "dist/${0##*/}: $1 is missing: $2" >&2; exit 2; }
}

# The one build that all packages hold: maturin's, so that the wheel needs no second one.
build() {
  need cargo "install Rust (rustup)"
  need maturin "pip install 'maturin[zig]'"
  if ! python3 -m ziglang version >/dev/null 2>&1 && ! command -v zig >/dev/null; then
    echo "dist/${0##*/}: zig is missing: pip install ziglang" >&2
    exit 2
  fi
  if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    echo "dist/${0##*/}: Rust's library for $target is missing: rustup target add $target" >&2
    exit 2
  fi
  (cd "$root/dist" && maturin build --zig --compatibility manylinux_2_28 --target "$target" --profile dist --locked \
    --out "$out")
}
