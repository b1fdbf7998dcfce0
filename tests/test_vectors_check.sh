#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The C example: the bundled kernels pass every vector they declare, and a kernel that is wrong on
# purpose fails with a message that says where.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build/default}
check=$build/vectors/examples/check
n=0
say() { # word, name
    n=$((n + 1))
    echo "$1 $n - $2"
}
for kernel in naive tiled flash; do
    if out=$("$check" "$build/impl/lib$kernel.so" vectors 2>&1); then
        passed=$(echo "$out" | grep -c '^pass ')
        if [ "$passed" -gt 300 ]; then word=ok; else word='not ok'; fi
        say "$word" "$kernel passes $passed vectors"
    else
        echo "$out" | grep -v '^pass \|^skip ' | head -5 | sed 's/^/# /'
        say 'not ok' "$kernel fails"
    fi
done
make -s --no-print-directory CC="${CC:-gcc}" "$build/mutants/mask-causal-top-left.so" >/dev/null
out=$("$check" "$build/mutants/mask-causal-top-left.so" vectors)
if [ $? -eq 1 ] && echo "$out" | grep -q '^fail .* causal/wide: o\[[0-9]*\] is .*, expected '; then
    say ok "a causal mask in the wrong corner fails, and the message says where"
else
    say 'not ok' "a causal mask in the wrong corner fails, and the message says where"
fi
"$check" "$build/impl/libnaive.so" no-such-corpus >/dev/null 2>&1
if [ $? -eq 2 ]; then say ok "no corpus: trouble, not success"; else say 'not ok' "no corpus"; fi
echo "1..$n"
