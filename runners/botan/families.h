// What the files of the Botan runner share: tables, and loops that turn an exception into a failed call.
#ifndef PERBYTE_BOTAN_FAMILIES_H
#define PERBYTE_BOTAN_FAMILIES_H

#include <exception>

#include <perbyte.h>

extern const pb_row secret_rows[], public_rows[];

// Make the case's own object by MAKE; an exception becomes the case's error.
#define OPEN(NAME, MAKE)                                                                                     \
	static int NAME(pb_case *c)                                                                          \
	{                                                                                                    \
		try {                                                                                        \
			c->ctx = MAKE;                                                                       \
			return 0;                                                                            \
		} catch (const std::exception &e) {                                                          \
			return pb_fail(c, "%s", e.what());                                                   \
		}                                                                                            \
	}

#define CLOSE(NAME, STATE)                                                                                   \
	static void NAME(pb_case *c)                                                                         \
	{                                                                                                    \
		delete static_cast<STATE *>(c->ctx);                                                         \
		c->ctx = nullptr;                                                                            \
	}

#define LOOP(NAME, STATE, ERROR)                                                                             \
	PB_LOOP(NAME##_calls, STATE, ERROR)                                                                  \
	static void NAME(pb_case *c, uint64_t n)                                                             \
	{                                                                                                    \
		try {                                                                                        \
			NAME##_calls(c, n);                                                                  \
		} catch (const std::exception &e) {                                                          \
			pb_fail(c, "%s", e.what());                                                          \
			c->failures++;                                                                       \
		}                                                                                            \
	}

#endif
