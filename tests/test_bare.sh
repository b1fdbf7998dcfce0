#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ci/bare says what it cannot do, and why. What it can do is seen by CI, which runs everything in it.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
number=0

expect() { # NAME STATUS TEXT COMMAND...
    number=$((number + 1))
    name=$1 status=$2 text=$3
    shift 3
    "$@" >"$folder/out" 2>&1 </dev/null
    code=$?
    if [ $code = "$status" ] && grep -qF -e "$text" "$folder/out"; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        echo "# status $code, expected $status and \"$text\""
        sed 's/^/# /' "$folder/out" | head -n 5
    fi
}

# A path with everything but mmdebstrap, and an identity that is not root's.
for program in id readlink dirname printf cat; do ln -s "$(command -v $program)" "$folder/$program"; done
mkdir "$folder/user"
printf '#!/bin/sh\necho 1000\n' >"$folder/user/id"
printf '#!/bin/sh\necho 0\n' >"$folder/root-id"
chmod 755 "$folder/user/id" "$folder/root-id"
rm "$folder/id" && mv "$folder/root-id" "$folder/id"
bash=$(command -v bash)

expect 'the help has examples' 0 'ci/bare --release trixie make test' ci/bare --help
expect 'no command is wrong usage' 64 'usage:' ci/bare
expect 'an unknown release is named' 64 "unknown release 'sid'" ci/bare --release sid true
expect 'a directory that is not there is named' 64 'no directory /nonexistent' \
    ci/bare --with /nonexistent true
expect 'who is not root is told so' 69 'it takes root' env PATH="$folder/user:$PATH" ci/bare true
expect 'a missing mmdebstrap is named' 69 'no mmdebstrap' env PATH="$folder" "$bash" ci/bare true
echo "1..$number"
