# SPDX-License-Identifier: Apache-2.0
# Part of ci/deps: what does not come from the running release's packages. It all goes to $tools and
# needs no rights: CBMC and Alt-Ergo of other Debian releases, a Why3 configuration, Python peers.

# --- what is there

# pins_of RELEASE: its lines of ci/pins, without the release.
pins_of() { sed -n "s/^$1 //p" "$pins"; }

# side_loaded RELEASE DIR: $tools/DIR was unpacked from what is pinned today.
side_loaded() { pins_of "$1" | cmp -s - "$tools/$2/pins"; }

cbmc_major() { ver=$("$1" --version 2>/dev/null) && echo "${ver%%.*}"; }

has_cbmc() {
    if [ -x "$tools/bin/cbmc" ]; then side_loaded trixie cbmc; return; fi
    command -v cbmc >/dev/null && [ "$(cbmc_major cbmc)" -ge 6 ] 2>/dev/null
}

# The version the proofs were made with. Why3 may find another one in PATH and use it.
has_alt_ergo() {
    if [ -x "$tools/bin/alt-ergo" ]; then side_loaded bullseye alt-ergo; return; fi
    [ "$(alt-ergo -version 2>/dev/null)" = 2.0.0 ]
}

# Paths in Why3's configuration are absolute, so it is made anew when the directory has moved.
has_why3_conf() {
    [ "$(cat "$tools/why3.origin" 2>/dev/null)" = "$(why3_origin)" ] && [ -f "$tools/why3.conf" ]
}
why3_origin() {
    printf '%s %s' "$tools" "$(why3 --version 2>/dev/null)"
    for p in alt-ergo cvc4 z3 gappa; do printf ' %s' "$(command -v $p)"; done
}

peer_there() { ls -d "$tools"/bench-venv/lib/python3*/site-packages/"$1" >/dev/null 2>&1; }

peers='onnxruntime matplotlib torch pywhispercpp' # the last one brings ggml

missing_private() {
    if has prove; then
        has_cbmc || echo "prove cbmc-6"
        has_alt_ergo || echo "prove alt-ergo-2.0.0"
        has_why3_conf || echo "prove why3.conf"
    fi
    if has bench; then
        for p in $peers; do peer_there "$p" || echo "bench python:$p"; done
    fi
}

# --- packages of another Debian release, unpacked into the private directory

# The mirror in use, as apt itself reports it; it reports nothing where the lists are empty.
debian_uri() {
    apt-get indextargets "$@" --format '$(REPO_URI)' 'Created-By: Packages' \
        "Codename: $codename" 'Label: Debian' 2>/dev/null | sed -n '1{p;q;}'
}
mirror() {
    uri=$(debian_uri)
    if [ -z "$uri" ]; then
        apt-get -q -o Dir::State::lists="$tmp/lists" update >>"$log" 2>&1 || :
        uri=$(debian_uri -o Dir::State::lists="$tmp/lists")
    fi
    echo "$uri"
}

# fetch RELEASE: download the release's pinned packages to $tools/debs, signatures checked by apt.
fetch() {
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -r $keyring ] || { say "no Debian archive keyring here"; return 1; }
    uri=$(mirror)
    [ -n "$uri" ] || { say "apt knows no Debian mirror"; return 1; }
    dir=$tmp/$1
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
    echo "deb [signed-by=$keyring] $uri $1 main" >"$dir/sources.list"
    set -- "$1" -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" -o Acquire::Languages=none
    release=$1
    shift
    apt-get "$@" -o APT::Update::Error-Mode=any update >>"$log" 2>&1 || return 1
    (cd "$dir" && apt-get "$@" download $(pins_of "$release" | sed "s, .*,/$release,")) \
        >>"$log" 2>&1 || return 1
    mkdir -p "$tools/debs"
    for deb in "$dir"/*.deb; do mv "$deb" "$tools/debs/$(dpkg-deb -f "$deb" Package).deb"; done
}

# pinned RELEASE HOW: true if each of its packages is in $tools/debs with the pinned hash. With
# HOW = fresh (apt has just checked the signature) `>=` may be taken at its word.
pinned() {
    bad=0
    pins_of "$1" >"$tmp/pins"
    while read -r package relation version sha; do
        deb=$tools/debs/$package.deb
        [ -f "$deb" ] || { bad=1; continue; }
        [ "$(sha256sum <"$deb")" = "$sha  -" ] && continue
        got=$(dpkg-deb -f "$deb" Version)
        if [ "$2" = fresh ] && [ "$relation" = '>=' ] &&
            dpkg --compare-versions "$got" gt "$version"; then
            say "$package $got is newer than the pinned $version: taken on its signature alone"
        else
            [ "$2" != fresh ] || say "$package $got is not the pinned file; refused"
            rm -f "$deb"
            bad=1
        fi
    done <"$tmp/pins"
    [ $bad = 0 ]
}

# side_load RELEASE DIR: unpack the release's pinned packages into $tools/DIR.
side_load() {
    [ "$distro" = debian ] || { say "not a Debian mirror"; return 1; }
    [ "$(dpkg --print-architecture)" = amd64 ] || { say "pinned for amd64 only"; return 1; }
    pinned "$1" kept || { fetch "$1" && pinned "$1" fresh; } || return 1
    rm -rf "${tools:?}/$2" "$tools/$2.new"
    mkdir -p "$tools/$2.new" || return 1
    for package in $(pins_of "$1" | cut -d' ' -f1); do
        dpkg-deb -x "$tools/debs/$package.deb" "$tools/$2.new" || return 1
    done
    pins_of "$1" >"$tools/$2.new/pins" && mv "$tools/$2.new" "$tools/$2"
}

# A wrapper finds its directory when it runs, so the tool directory can be moved or shared.
wrapper() {
    cat >"$tools/bin/$1.new"
    chmod 755 "$tools/bin/$1.new"
    mv "$tools/bin/$1.new" "$tools/bin/$1"
}

install_cbmc() {
    case $(candidate cbmc) in
    '' | [0-5].*) ;;
    *) echo 'prove cbmc' >"$tmp/one" && install_packages "$tmp/one" && return ;;
    esac
    say "unpacking CBMC 6.6.0 of Debian 13 into $tools"
    rm -f "$tools/bin/cbmc" "$tools/bin/goto-cc" "$tools/bin/goto-instrument"
    if ! side_load trixie cbmc; then
        say "CBMC 6 is not to be had here (see $log); claims that need it will not run"
        return 0
    fi
    for program in cbmc goto-cc goto-instrument; do
        wrapper $program <<END
#!/bin/sh
# CBMC needs a newer C library than the system's: start it through the loader that came with it.
d=\$(dirname "\$(readlink -f "\$0")")/../cbmc/usr
l=\$d/lib/x86_64-linux-gnu
exec "\$l/ld-linux-x86-64.so.2" --argv0 $program --library-path "\$l:\$d/lib" \\
    "\$d/bin/$program" "\$@"
END
    done
}

install_alt_ergo() {
    case $(candidate alt-ergo) in
    2.0.0-*) echo 'prove alt-ergo' >"$tmp/one" && install_packages "$tmp/one" && return ;;
    esac
    say "unpacking Alt-Ergo 2.0.0 of Debian 11 into $tools"
    rm -f "$tools/bin/alt-ergo"
    if ! side_load bullseye alt-ergo; then
        say "Alt-Ergo 2.0.0 is not to be had here (see $log); claims that need it will not run"
        return 0
    fi
    wrapper alt-ergo <<'END'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/../alt-ergo/usr/bin/alt-ergo" "$@"
END
}

# --- Why3: a private configuration, with a CVC4 that sees floats through Why3's axioms only

configure_why3() {
    command -v why3 >/dev/null || { say "no Why3, no $tools/why3.conf"; return 0; }
    conf=$tools/why3.conf
    rm -f "$conf"
    why3 config detect -C "$conf" >>"$log" 2>&1 || die "why3 config detect failed; see $log"
    sed -i 's/^memlimit = .*/memlimit = 4000/' "$conf"
    grep -q '^memlimit = 4000$' "$conf" || sed -i 's/^\[main\]$/&\nmemlimit = 4000/' "$conf"
    stock=$(why3 --print-datadir)/drivers
    if command -v cvc4 >/dev/null && [ -f "$stock/cvc4_17.drv" ]; then
        rm -rf "$tools/why3-drivers"
        mkdir -p "$tools/why3-drivers"
        ln -s "$stock"/*.gen "$tools/why3-drivers/"
        rm "$tools/why3-drivers/cvc4_16.gen"
        sed '/^import "smt-libv2-floats.gen"$/d' "$stock/cvc4_16.gen" \
            >"$tools/why3-drivers/cvc4_nofp.gen"
        sed 's/"cvc4_16.gen"/"cvc4_nofp.gen"/' "$stock/cvc4_17.drv" \
            >"$tools/why3-drivers/cvc4_nofp.drv"
        cat >>"$conf" <<END

[prover]
name = "CVC4nofp"
version = "$(cvc4 --version | sed -n 's/.*CVC4 version \([0-9.]*[0-9]\).*/\1/p;T;q')"
alternative = ""
command = "cvc4 --stats --tlimit=%t000 --lang=smt2 %f"
command_steps = ""
driver = "$tools/why3-drivers/cvc4_nofp.drv"
editor = ""
in_place = false
interactive = false
shortcut = "cvc4nofp"
END
    fi
    why3_origin >"$tools/why3.origin"
}

# --- peers for the benchmark

cpu_only() {
    "$venv/bin/pip" install -q --dry-run --report - "$1" >"$tmp/report" 2>>"$log" &&
        ! grep -q '"name": "nvidia-' "$tmp/report"
}

install_peers() {
    venv=$tools/bench-venv
    [ -x "$venv/bin/python" ] || "$PYTHON" -m venv "$venv" >>"$log" 2>&1 ||
        { say "no Python environment for the peers; see $log"; return 0; }
    for p in $peers; do
        peer_there "$p" && continue
        what=$p
        if [ "$p" = torch ]; then
            what=${ATTEST_TORCH:-torch==2.13.0}
            if [ -z "${ATTEST_TORCH:-}" ] && ! cpu_only "$what"; then
                say "torch: no CPU build offered; peer not installed (see ATTEST_TORCH in --help)"
                continue
            fi
        fi
        say "installing the Python package $p"
        "$venv/bin/pip" install -q $what >>"$log" 2>&1 || say "$p: peer not installed; going on"
    done
}
