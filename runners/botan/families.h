// What the files of the Botan runner share: tables, and loops that turn an exception into a failed call.
#ifndef PERBYTE_BOTAN_FAMILIES_H
#define PERBYTE_BOTAN_FAMILIES_H

#include <algorithm>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>

#include <botan/rng.h>
#include <perbyte.h>

extern const pb_row secret_rows[], public_rows[], stateful_rows[];

// Gives the run's material where the library draws at random and has no function that takes it.
class Given final : public Botan::RandomNumberGenerator
{
      public:
	explicit Given(std::span<const uint8_t> bytes) : left(bytes)
	{
	}
	std::string name() const override
	{
		return "given";
	}
	void clear() override
	{
	}
	bool accepts_input() const override
	{
		return false;
	}
	bool is_seeded() const override
	{
		return true;
	}

      private:
	std::span<const uint8_t> left;

	void fill_bytes_with_input(std::span<uint8_t> output, std::span<const uint8_t>) override
	{
		if (output.size() > left.size())
			throw std::length_error("more was drawn than is given");
		std::copy_n(left.begin(), output.size(), output.begin());
		left = left.subspan(output.size());
	}
};

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
