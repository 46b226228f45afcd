// What the wrapper of a user's functions of C++ stands on (`perbyte try`).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

// An object in the room of a state: made anew each time, and not before the last one is gone.
template <typename T> struct pb_held {
	bool made;
	alignas(T) T it;
	void make()
	{
		if (made)
			it.~T();
		new (&it) T();
		made = true;
	}
};

// Data and keys, as a call that was written by the user gets them.
struct pb_bytes {
	const uint8_t *at;
	size_t many;
	const uint8_t *data() const
	{
		return at;
	}
	size_t size() const
	{
		return many;
	}
	const uint8_t *begin() const
	{
		return at;
	}
	const uint8_t *end() const
	{
		return at + many;
	}
	operator const uint8_t *() const
	{
		return at;
	}
	operator std::vector<uint8_t>() const
	{
		return std::vector<uint8_t>(at, at + many);
	}
	operator std::string() const
	{
		return std::string((const char *)at, many);
	}
};

// Where what such a call returns goes: bytes to `out`, of a number the highest first; true and what returns nothing is 1.
// A call that has no output, or that `writes` it itself, tells by a number whether it accepted its input.
template <typename Made> int pb_put(Made made, uint8_t *out, bool writes)
{
	using result = std::decay_t<decltype(made())>;
	if constexpr (std::is_void_v<result>) {
		made();
	} else if constexpr (std::is_same_v<result, bool>) {
		return made();
	} else if constexpr (std::is_integral_v<result>) {
		auto number = made();
		if (!out || writes)
			return (int)number;
		for (size_t at = 0; at < sizeof number; at++)
			out[at] = (uint8_t)((uint64_t)number >> 8 * (sizeof number - 1 - at));
	} else if constexpr (!std::is_pointer_v<result>) {
		auto bytes = made();
		if (out)
			memcpy(out, bytes.data(), bytes.size());
	} else {
		(void)made();
	}
	return 1;
}
