#!/bin/sh
# Fuzzes every reader for long: sh scripts/fuzz.sh [INPUTS OF THE C READER] [INPUTS OF EACH READER IN PYTHON] [DIRECTORY]
# The C reader by libFuzzer where clang is installed. What it finds, and new inputs worth keeping, are in the directory.
set -eu
cd "$(dirname "$0")/.."
most=${1:-100000000} each=${2:-1000000} out=${3:-build/fuzz}
mkdir -p "$out/kept"
python=$PWD/.venv/bin/python here=$PWD/tests/fuzz
$python - "$out/kept" <<'EOF'
import ast, pathlib, sys
for number, line in enumerate(pathlib.Path("tests/fuzz/corpus/reader.txt").read_text().splitlines()):
    pathlib.Path(sys.argv[1], f"kept-{number}").write_bytes(ast.literal_eval(line))
EOF
sh tests/fuzz/build_reader.sh "$out/reader"
CFLAGS=-DREADER_ONLY sh tests/fuzz/build_reader.sh "$out/reader-only"
cd "$out"
if command -v clang >/dev/null; then
	./reader-only -runs="$most" -max_len=512 -print_final_stats=1 kept
	./reader -runs="$((most / 33))" -max_len=1024 -rss_limit_mb=4000 -malloc_limit_mb=100000 -print_final_stats=1 kept
else
	./reader-only 1 "$most" kept/*
	./reader 1 "$((most / 33))" kept/*
fi
for target in codec state journal manifest samples figures parquet listings benchmarks machine index atlas data; do
	"$python" "$here/fuzz.py" $target --inputs "$each"
done
