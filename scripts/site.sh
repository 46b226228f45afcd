#!/bin/sh
# The documents as a site that is read without a server: build/site/index.html, and the atlas of the cores tried below
# build/site/atlas. A link or an anchor that leads nowhere is an error. Its tools have an environment of their own (requirements-site.lock).
# Usage: site.sh [PYTHON]
set -eu
python=${1:-python3}
cd "$(dirname "$0")/.."
if ! cmp -s requirements-site.lock .venv-site/ready; then
	rm -rf .venv-site
	"$python" -m venv .venv-site
	.venv-site/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-site.lock
	cp requirements-site.lock .venv-site/ready
fi
rm -rf build/site
.venv-site/bin/python -m sphinx --quiet --fail-on-warning --keep-going --jobs auto --conf-dir docs/site --doctree-dir build/site-pages . build/site
cp build/site/README.html build/site/index.html
.venv/bin/perbyte atlas site build/site/atlas --atlas atlas --title "The cores tried" --quiet
# a link to a file elsewhere (<a>) loads nothing
if grep -rlzE '<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//[^"]*\.(js|css|woff2?)' build/site --include='*.html'; then
	echo "these pages load something from elsewhere" >&2
	exit 1
fi
echo "site: $PWD/build/site/index.html"
