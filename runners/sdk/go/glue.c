/* The exported functions of Go as what foreign.c calls. */
#include "foreign.h"

#include "_cgo_export.h"

int pb_go_main(const char *name, const char *library, const char *license, const char *version,
	       const char *features)
{
	static const pb_foreign go = {goOpen, goClose, goRun, goBegin, goShow, 1};
	return pb_foreign_main(&go, name, library, license, version, features);
}
