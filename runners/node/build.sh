#!/bin/sh
# The addon around the C SDK, the packages that are measured, and the runtime where it is one of them.
#   build.sh OUT SDKS [DIRECTORY-OF-PACKAGE.JSON [RUNTIME-BELOW-OUT]]
set -eu
out=$1 sdk=$2 packages=${3:-} runtime=${4:+$1/$4}
cc=${CC:-cc}
include=${NODE_INCLUDE:-$(dirname "$(dirname "$(command -v node)")")/include/node}
if [ ! -f "$include/node_api.h" ]; then
	echo "node_api.h is not in $include: install node's headers (libnode-dev), or set NODE_INCLUDE" >&2
	exit 1
fi
if [ -n "$packages" ]; then
	cp "$packages/package.json" "$packages/package-lock.json" "$out/"
	if ! (cd "$out" && npm ci --silent --no-audit --no-fund --ignore-scripts) >"$out/log" 2>&1; then
		cat "$out/log" >&2
		echo "npm could not install the packages: it needs its registry, or a copy of it, and a machine that they are made for" >&2
		exit 1
	fi
fi
[ -z "$runtime" ] || chmod +x "$runtime"
version=$("${runtime:-node}" --version | head -n 1)
flags="-std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror"
# shellcheck disable=SC2086
$cc $flags -fPIC -shared -DPB_COMPILER="\"$(basename "${runtime:-node}") $version\"" -DPB_FLAGS='""' -I"$sdk/c" -I"$sdk/foreign" \
	-I"$include" -o "$out/perbyte.node" "$sdk"/c/*.c "$sdk/foreign/foreign.c" "$sdk/node/addon.c" -lm -ldl -pthread
