#!/bin/sh
# The C SDK as a shared library, and an environment with the one package that is measured.
#   build.sh OUT SDK PYTHON [PACKAGE==VERSION]
set -eu
out=$1 sdk=$2 python=$3 package=${4:-}
cc=${CC:-cc}
flags="-std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror"
# shellcheck disable=SC2086
$cc $flags -fPIC -shared -DPB_COMPILER="\"$("$python" --version)\"" -DPB_FLAGS='""' -I"$sdk/c" -I"$sdk/foreign" \
	-o "$out/libperbyte.so" "$sdk"/c/*.c "$sdk/foreign/foreign.c" "$sdk/python/loops.c" -lm -ldl -pthread
"$python" -m venv "$out/venv"
if [ -n "$package" ] && ! "$out/venv/bin/pip" install --quiet --disable-pip-version-check "$package" >"$out/log" 2>&1; then
	cat "$out/log" >&2
	echo "pip could not install $package: it needs its index, or a copy of it" >&2
	exit 1
fi
