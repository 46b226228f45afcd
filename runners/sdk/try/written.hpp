// What calls of C++ that `perbyte try --function` was given as they are written get, and where what they return goes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

struct pb_bytes {
	const uint8_t *at;
	size_t many;
	const uint8_t *data() const { return at; }
	size_t size() const { return many; }
	const uint8_t *begin() const { return at; }
	const uint8_t *end() const { return at + many; }
	operator const uint8_t *() const { return at; }
	operator std::vector<uint8_t>() const { return std::vector<uint8_t>(at, at + many); }
	operator std::string() const { return std::string((const char *)at, many); }
};

// Bytes go to `out`, of a number the highest first; true and what returns nothing is 1.
template <typename Made> int pb_put(Made made, uint8_t *out)
{
	using result = std::decay_t<decltype(made())>;
	if constexpr (std::is_void_v<result>) {
		made();
	} else if constexpr (std::is_same_v<result, bool>) {
		return made();
	} else if constexpr (std::is_integral_v<result>) {
		auto number = made();
		for (size_t at = 0; at < sizeof number; at++)
			out[at] = (uint8_t)((uint64_t)number >> 8 * (sizeof number - 1 - at));
	} else if constexpr (!std::is_pointer_v<result>) {
		auto bytes = made();
		memcpy(out, bytes.data(), bytes.size());
	} else {
		(void)made();
	}
	return 1;
}
