#!/bin/sh
# The addon around the C SDK, and the packages that are measured.
#   build.sh OUT SDKS [PACKAGES-FILE]
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
out=$1 sdk=$2
cc=${CC:-cc}
include=${NODE_INCLUDE:-$(dirname "$(dirname "$(command -v node)")")/include/node}
if [ ! -f "$include/node_api.h" ]; then
	echo "node_api.h is not in $include: install node's headers (libnode-dev), or set NODE_INCLUDE" >&2
	exit 1
fi
flags="-std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror"
# shellcheck disable=SC2086
$cc $flags -fPIC -shared -DPB_COMPILER="\"node $(node --version)\"" -DPB_FLAGS='""' -I"$sdk/c" -I"$sdk/foreign" -I"$include" \
	-o "$out/perbyte.node" "$sdk"/c/*.c "$sdk/foreign/foreign.c" "$sdk/node/addon.c" -lm -ldl -pthread
[ $# -gt 2 ] || exit 0
cp "$here/../node-noble/package.json" "$here/../node-noble/package-lock.json" "$out/"
if ! (cd "$out" && npm ci --silent --no-audit --no-fund) >"$out/log" 2>&1; then
	cat "$out/log" >&2
	echo "npm could not install the packages: it needs its registry, or a copy of it" >&2
	exit 1
fi
