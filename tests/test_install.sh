#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `make install` installs works where it was put, and after it has been moved.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build/default}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
number=0

report() { # NAME, of what the last command said in $folder/out
    code=$?
    number=$((number + 1))
    if [ $code = 0 ]; then echo "ok $number - $1"; else echo "not ok $number - $1"; sed 's/^/# /' "$folder/out" | tail; fi
}

unset MAKEFLAGS MFLAGS MAKELEVEL
make DEPS= B="$BUILD" install DESTDIR="$folder/root" PREFIX=/usr >"$folder/out" 2>&1
report 'make install with DESTDIR and PREFIX'
mv "$folder/root/usr" "$folder/moved"
attest=$folder/moved/bin/attest
cd "$folder" || exit 1
"$attest" certify builtin:naive --level smoke --only heads --profile pytorch-sdpa >out 2>&1
grep -q 'was cut by --only' out
report 'it finds its worker, kernels and profiles'
cat >mine.py <<'PY'
import numpy as np


def attention(q, k, v):
    score = np.einsum("bhid,bhjd->bhij", q, k) * np.float32(q.shape[3] ** -0.5)
    weight = np.exp(score - score.max(3, keepdims=True))
    return np.einsum("bhij,bhjc->bhic", weight / weight.sum(3, keepdims=True), v)
PY
"$attest" certify py:mine.py:attention --level smoke --only vectors --quiet >out 2>&1
grep -q 'types f32' out
report 'it finds its Python worker'
"$attest" certify py:mine:attention --level smoke --only vectors --quiet >out 2>&1
grep -q 'types f32' out
report 'a module is found from the working directory'
PKG_CONFIG_PATH=$folder/moved/lib/pkgconfig pkg-config --define-variable=prefix="$folder/moved" \
    --cflags attest >out 2>&1 && grep -q "$folder/moved/include" out
report 'pkg-config has the directory of attest.h'
PKG_CONFIG_PATH=$folder/moved/lib/pkgconfig pkg-config --modversion attest-fuzz >out 2>&1 &&
    [ "$("$attest" --version | cut -d' ' -f2)" = "$(cat out)" ]
report 'pkg-config and the program have one version'
[ -s moved/share/man/man1/attest.1 ]
report 'the page of the manual is there'
mkdir project && cp "$OLDPWD/impl/template.c" project/kernel.c
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(kernel C)
enable_testing()
find_package(attest REQUIRED)
add_library(mykernel SHARED kernel.c)
target_link_libraries(mykernel PRIVATE attest::attest m)
attest_certify(mykernel --level smoke)
CMAKE
{ cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$folder/moved" &&
    cmake --build project/build && (cd project/build && ctest); } >out 2>&1 &&
    grep -q '100% tests passed' out
report 'CMake: find_package(attest), attest_certify(target), ctest'
echo "1..$number"
