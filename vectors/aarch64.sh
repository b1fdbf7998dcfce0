#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The generator built for AArch64 and run by qemu-user writes the bytes that are in the tree. Takes
# the compiler and qemu from `ci/deps cross`; the libraries are packages of the running Debian
# release for arm64, fetched with signatures checked into a private directory.
set -eu
cd "$(dirname "$0")/.."
tools=${ATTEST_TOOLS:-.tools}/aarch64
mkdir -p "$tools"
tools=$(CDPATH='' cd -- "$tools" && pwd -P)
compiler=aarch64-linux-gnu-gcc
for needed in $compiler qemu-aarch64 apt-get dpkg-deb; do
    command -v $needed >/dev/null || { echo "aarch64.sh: no $needed (ci/deps cross)" >&2; exit 2; }
done

fetch() {
    mkdir -p "$tools/state/lists/partial" "$tools/cache/archives/partial" "$tools/packages"
    set -- -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
        -o Dir::State="$tools/state" -o Dir::State::status=/dev/null -o Dir::Cache="$tools/cache"
    apt-get "$@" update >/dev/null
    needed='libgsl-dev libmpfr-dev libgmp-dev libjansson-dev libsodium-dev'
    shared=$(shift && apt-cache "$@" depends --important $needed |
        sed -n 's/.*Depends: \(lib\(gsl\|mpfr\|gmp\|jansson\|sodium\)[a-z]*[0-9][0-9a-z]*\)$/\1/p')
    (cd "$tools/packages" && apt-get "$@" download $needed $shared >/dev/null)
    for package in "$tools"/packages/*.deb; do
        dpkg-deb -x "$package" "$tools/root"
    done
}
[ -e "$tools/root/usr/include/gsl/gsl_rng.h" ] || fetch

usr=$tools/root/usr
libraries=$usr/lib/aarch64-linux-gnu
out=build/aarch64/corpus
rm -rf build/aarch64
mkdir -p $out/data
sources=$(find vectors/read vectors/write -name '*.c' ! -name manifest.c ! -name 'vector_judge*'
    find reference -name '*.c' ! -name 'oracle_gsl*' ! -name row.c ! -name shell.c \
        ! -name forward.c ! -name program.c)
for source in $sources; do
    $compiler -std=c11 -O2 -ffp-contract=off -fno-math-errno -I. \
        -isystem "$usr/include" -isystem "$usr/include/aarch64-linux-gnu" \
        -c "$source" -o "build/aarch64/$(echo "$source" | tr / _).o"
done
$compiler build/aarch64/*.o -L"$libraries" -Wl,-rpath-link,"$libraries" -lgsl -lgslcblas \
    -ljansson -lsodium -lmpfr -lgmp -lm -lpthread -o build/aarch64/generate
mutants=
[ ! -e vectors/mutants.json ] || mutants=vectors/mutants.json
qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$libraries" \
    build/aarch64/generate $out spec/profiles $mutants
diff -r $out/data vectors/data
diff $out/manifest.json vectors/manifest.json
diff $out/manifest.b2 vectors/manifest.b2
echo "the same bytes on AArch64"
