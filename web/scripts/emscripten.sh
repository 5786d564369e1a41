#!/usr/bin/env bash
# emscripten.sh PREFIX
#
# Puts Debian trixie's Emscripten (3.1.69) into PREFIX on Debian 12 or newer. No
# apt source or pin is added and libc6 is not touched: clang-19, lld-19 and llvm-19
# are the machine's own release's; emscripten, acorn and binaryen are fetched from
# trixie with a private apt state (signatures are checked) and unpacked, never
# installed. Binaryen wants a newer glibc than Debian 12's, so it gets trixie's
# beside it. The prebuilt system libraries are used read-only: nothing is compiled
# on first use and nothing is written later. PREFIX must not be moved afterwards.
#
# Needs root, node, python3. EMSCRIPTEN_MIRROR: a Debian mirror other than the machine's.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

[ $# -eq 1 ] || { echo "usage: $0 PREFIX" >&2; exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd -P)
case $prefix in *[[:space:]:\'\"\$]*) echo "no spaces, colons or quotes: $prefix" >&2; exit 2 ;; esac
# ---- One installation at a time: a second process waits, and uses what the first has installed
exec 9> "$prefix/.lock"
flock -n 9 || { flock 9; [ ! -e "$prefix/emscripten" ] || exit 0; }
case $(dpkg --print-architecture) in
  amd64) triple=x86_64-linux-gnu ;;
  arm64) triple=aarch64-linux-gnu ;;
  *) echo "no prebuilt Emscripten for $(dpkg --print-architecture)" >&2; exit 1 ;;
esac
work=$(mktemp -d)
finish() {
  status=$?
  rm -rf "$work"
  [ "$status" = 0 ] || rm -rf "$prefix/emscripten" # half an installation is none
}
trap finish EXIT
system_apt=(apt-get -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)

# ---- A private apt that reads trixie; the system's stays as it is
mirror=${EMSCRIPTEN_MIRROR:-}
if [ -z "$mirror" ]; then # the first Debian address the machine uses, security's apart
  mirror=$( { sed -n 's/^URIs:[[:space:]]*//p' /etc/apt/sources.list.d/*.sources 2>/dev/null
              sed -nE 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+).*/\2/p' \
                  /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null; } \
            | tr ' ' '\n' | grep -E '/debian/?$' | head -1 || true)
fi
[ -n "$mirror" ] || { echo "no Debian mirror found; set EMSCRIPTEN_MIRROR" >&2; exit 1; }
mkdir -p "$work"/{lists/partial,cache/archives/partial,state,debs,none}
: > "$work/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" \
  > "$work/sources.list"
cat > "$work/apt.conf" <<X
Dir::State "$work/state";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "$work/none";
APT::Sandbox::User "root";
APT::Default-Release "";
Acquire::Languages "none";
Acquire::Retries "3";
X
trixie=(apt-get -q -c "$work/apt.conf")
"${trixie[@]}" update

# ---- LLVM from the machine's own release
llvm=$(apt-cache -c "$work/apt.conf" show emscripten |
  sed -n 's/^Depends:.*clang-\([0-9]*\).*/\1/p' | head -1)
for tool in clang wasm-ld llvm-ar; do
  [ -x "/usr/bin/$tool-$llvm" ] && continue
  apt-cache show "clang-$llvm" >/dev/null 2>&1 || "${system_apt[@]}" update
  "${system_apt[@]}" install -y --no-install-recommends --no-remove \
    "clang-$llvm" "lld-$llvm" "llvm-$llvm"
  break
done
if ! patchelf=$(command -v patchelf); then # used once: unpacked, not installed
  apt-cache show patchelf >/dev/null 2>&1 || "${system_apt[@]}" update
  (cd "$work" && apt-get -q -o APT::Sandbox::User=root download patchelf)
  dpkg-deb -x "$work"/patchelf_*.deb "$work/patchelf"
  patchelf=$work/patchelf/usr/bin/patchelf
fi

# ---- Fetch (about 250 MB) and unpack; the lto and pic libraries, 800 MB, are not needed
(cd "$work/debs" && "${trixie[@]}" download \
  emscripten binaryen node-acorn libc6 libgcc-s1 libstdc++6)
unpacked=$prefix/.unpacked # on the prefix's file system: what is kept is renamed
rm -rf "$prefix"/{emscripten,binaryen} "$unpacked"
mkdir "$unpacked"
libraries=./usr/share/emscripten/cache/sysroot/lib/wasm32-emscripten
for package in "$work"/debs/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$unpacked" --no-same-owner \
    --exclude=./usr/share/emscripten/test --exclude=./usr/share/emscripten/docs \
    --exclude=./usr/share/doc --exclude="$libraries"/{lto,lto-pic,pic}
done

# ---- Binaryen on its own glibc
binaryen=$prefix/binaryen
mkdir -p "$binaryen"/{bin,lib}
mv "$unpacked"/usr/bin/{wasm-*,wasm2js} "$binaryen/bin/"
for library in "$unpacked/usr/lib/$triple"/{ld-linux-*.so.*,lib{c,m}.so.6,libgcc_s.so.1,libstdc++.so.6,lib{pthread,dl}.so.*,librt.so.*,libbinaryen.so*}; do
  [ ! -e "$library" ] || cp -L "$library" "$binaryen/lib/" # the file itself, under its soname
done
loader=$(ls "$binaryen"/lib/ld-linux-*)
for tool in "$binaryen"/bin/*; do
  "$patchelf" --set-interpreter "$loader" --force-rpath --set-rpath "$binaryen/lib" "$tool"
done
"$patchelf" --force-rpath --set-rpath "$binaryen/lib" "$binaryen"/lib/libbinaryen.so

# ---- Emscripten with acorn beside it (imported as ESM, which ignores NODE_PATH)
mv "$unpacked/usr/share/emscripten" "$prefix/emscripten"
mv "$unpacked/usr/share/nodejs" "$prefix/emscripten/node_modules"
rm -rf "$unpacked"
cat > "$prefix/emscripten/.emscripten" <<X
LLVM_ROOT = '/usr/bin'
LLVM_ADD_VERSION = '$llvm'
CLANG_ADD_VERSION = '$llvm'
BINARYEN_ROOT = '$binaryen'
NODE_JS = '$(command -v node)'
CACHE = '$prefix/emscripten/cache'
FROZEN_CACHE = True
X

# ---- Does it compile something that runs?
cat > "$work/double.c" <<'X'
#include <wasm_simd128.h>
float twice(float x) { return wasm_f32x4_extract_lane(wasm_f32x4_add(wasm_f32x4_splat(x), wasm_f32x4_splat(x)), 3); }
X
"$prefix/emscripten/emcc" "$work/double.c" -O3 -msimd128 -sSTANDALONE_WASM --no-entry \
  -sEXPORTED_FUNCTIONS=_twice -o "$work/double.wasm"
node -e "WebAssembly.instantiate(require('fs').readFileSync('$work/double.wasm'), {}).then(
  ({ instance }) => process.exit(instance.exports.twice(21) === 42 ? 0 : 1))"
