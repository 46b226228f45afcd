/* A runner whose tables are in Rust: the static library exports `perbyte_rust_runner` (macro `runner!`). */
#include "perbyte.h"

extern const pb_runner perbyte_rust_runner;

int main(int argc, char **argv)
{
	return pb_runner_main(&perbyte_rust_runner, argc, argv);
}
