#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernels under sanitizers: no report, and the bits of the ordinary build.
build=${BUILD:-build/default}
case $build in build/default) ;; *)
    echo '1..1'
    echo 'ok 1 - kernels under sanitizers # SKIP done once, in the default build'
    exit 0 ;;
esac
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
kernels='naive tiled flash flash64'
objects='validate normal mask convert profile'

# variant, directory, flags of the test program
prepare() {
    MAKEFLAGS='' make -s $1 kernels $(printf "$2/reference/problem/%s.o " $objects) >"$folder/log" 2>&1 ||
        { cat "$folder/log"; return 1; }
    gcc -std=c11 -O1 -g $3 -I. tests/support/cross_kernels.c \
        $(printf "$2/reference/problem/%s.o " $objects) -lm -ldl -o "$folder/program" &&
        "$folder/program" $(for k in $kernels; do echo "$2/impl/lib$k.so"; done) >"$folder/now" 2>&1
}

prepare '' "$build" '' || { echo 'Bail out! the kernels do not build'; exit 1; }
mv "$folder/now" "$folder/plain"
echo 1..2
n=0
for san in address,undefined thread; do
    n=$((n + 1))
    if prepare "SAN=$san" "build/default-san-$(echo $san | tr , -)" "-fsanitize=$san" &&
        [ "$(wc -l <"$folder/now")" -ge 200 ] && cmp -s "$folder/plain" "$folder/now"; then
        echo "ok $n - kernels under $san"
    else
        diff "$folder/plain" "$folder/now" | head -20 | sed 's/^/# /'
        echo "not ok $n - kernels under $san"
    fi
done
