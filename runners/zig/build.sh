#!/bin/sh
# Two programs: compiled for this processor, as zig does unless it is told otherwise, and for any of its kind.
#   build.sh OUT SDKS PYTHON
# The compiler is ZIG, or `zig`, or the package ziglang of PYTHON, where its version is the one that the sources are written
# for; else pip fetches that one.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
out=$1 sdk=$2 python=$3
cc=${CC:-cc}
wanted=$(sed -n 's/^ziglang==\([0-9.]*\).*/\1/p' "$here/requirements.txt")

is_wanted() {
	[ "$("$@" version 2>/dev/null | cut -d . -f 1,2)" = "${wanted%.*}" ]
}

if is_wanted "${ZIG:-zig}"; then
	zig=${ZIG:-zig}
elif is_wanted "$python" -m ziglang; then
	zig="$python -m ziglang"
else
	"$python" -m venv --without-pip "$out/fetched"
	if ! "$python" -m pip --disable-pip-version-check --python "$out/fetched/bin/python" install --quiet --require-hashes \
		-r "$here/requirements.txt" >"$out/log" 2>&1; then
		cat "$out/log" >&2
		echo "zig ${wanted%.*} is needed: pip install ziglang==$wanted, or set ZIG; pip could not fetch it" >&2
		exit 1
	fi
	zig="$out/fetched/bin/python -m ziglang"
fi

program() {
	tier=$1 cpu=$2
	# shellcheck disable=SC2086
	$zig build-obj -O ReleaseFast -mcpu="$cpu" -fPIC -lc --cache-dir "$out/cache" --global-cache-dir "$out/cache" \
		-femit-bin="$out/tables-$tier.o" "$here/table.zig"
	# shellcheck disable=SC2086
	$cc -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -DRUNNER_TIER="\"$tier\"" \
		-DPB_COMPILER="\"zig $($zig version)\"" -DPB_FLAGS="\"-O ReleaseFast -mcpu=$cpu\"" -I"$sdk/c" \
		-o "$out/zig-$tier" "$sdk"/c/*.c "$here/main.c" "$out/tables-$tier.o" -lm -ldl -pthread
}

program full native
program baseline baseline
rm -rf "$out/cache" "$out/fetched" "$out"/tables-*.o
