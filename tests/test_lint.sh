#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tree keeps its habits (ci/lint), and each linter finds what is planted for it.
set -u
cd "$(dirname "$0")/.." || exit 1
names=$(ci/lint --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
ci/lint --tap | sed '/^1\.\.[0-9]*$/d'
number=$(echo "$names" | wc -l)

copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/ci" "$copy/spec"
cp ci/lint ci/check-* ci/layers.txt ci/mentions.txt "$copy/ci"
cp .clang-format .clang-tidy .shellcheckrc "$copy"
plant() { cat >"$copy/$1"; }
plant bad.c <<'END'
int  badly_formatted;
END
plant long.c <<END
/* $(printf '%0100d' 0) */
END
plant bad.h <<'END'
size_t wants_stddef(void);
END
plant tidy.c <<'END'
int over_zero(void) {
    int zero = 0;
    return 1 / zero;
}
END
plant bad.sh <<'END'
#!/bin/sh
read line
cd "$line"
END
chmod 755 "$copy/bad.sh"
plant bad.py <<'END'
import os
END
plant page.md <<'END'
see ci/gone.c
END
plant spec/attention.md <<END
### MASK-$((90 + 9)) Carried by nothing
END
printf '[{"directory": "%s", "file": "tidy.c", "arguments": ["cc", "-c", "tidy.c"]}]\n' "$copy" \
    >"$copy/compile_commands.json"
git -C "$copy" init -q
git -C "$copy" -c user.name=test -c user.email=test@localhost commit -q --allow-empty \
    -m "$(printf 'a subject of %073d characters' 0)"

for name in $names; do
    number=$((number + 1))
    if "$copy/ci/lint" "$name" >"$copy/out" 2>&1 || ! grep -q "^FAIL $name" "$copy/out" ||
        ! grep -qE 'bad\.|long\.c|tidy\.c|gone\.c|MASK-9|subject of|not in ci/layers' "$copy/out"; then
        echo "not ok $number - $name finds what is planted"
        sed 's/^/# /' "$copy/out" | tail -n 10
    else
        echo "ok $number - $name finds what is planted"
    fi
done
echo "1..$number"
