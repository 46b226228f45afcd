#!/bin/sh
# Make .venv from the lock file; install what apt provides when that is possible.
# Not root, or no apt: the exact command is printed and what is present is used.
# Usage: [FOR=bench] setup.sh [PYTHON [PACKAGE...]]; the packages are wanted beside the usual ones. FOR=bench leaves out
# what only tests need.
set -eu
python=${1:-python3}
[ $# -gt 0 ] && shift
cd "$(dirname "$0")/.."

# what the runners and the browser test need; a library that stays absent makes its runner absent, nothing else
packages="python3-venv build-essential pkg-config libssl-dev libgcrypt20-dev nettle-dev libcrypto++-dev $*"
lock=requirements-bench.lock
if [ "${FOR:-}" != bench ]; then
	packages="$packages clang-format chromium"
	lock=requirements.lock
fi

if command -v apt-get >/dev/null 2>&1; then
	missing=""
	for package in $packages; do
		dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed' || missing="$missing $package"
	done
	if [ -n "$missing" ]; then
		if [ "$(id -u)" = 0 ]; then
			echo "installing:$missing"
			export DEBIAN_FRONTEND=noninteractive
			{ apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null; } ||
				echo "could not install everything; going on with what is present" >&2
		else
			echo "not root; to have everything, run: sudo apt-get install$missing" >&2
		fi
	fi
fi

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
	echo "Perbyte needs Python 3.11 or newer; set PYTHON=... (found $("$python" --version 2>&1))" >&2
	exit 3
fi
[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
# as an installed wheel is: where PYTHONDONTWRITEBYTECODE is set, each command would compile all of it anew
.venv/bin/python -m compileall -q src/perbyte
