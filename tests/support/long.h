// Tests that repeat something have a long variant: with SLIPWAY_TEST_LONG=1 in the environment they repeat it more
// often. scripts/check.sh --long sets it. Pure; any thread.
#pragma once

#include <cstdlib>
#include <string_view>

namespace slipway {

inline bool is_long_test() {
  const char* value = std::getenv("SLIPWAY_TEST_LONG");
  return value != nullptr && std::string_view(value) == "1";
}

template <class T>
T rounds(const T& usual, const T& when_long) {
  return is_long_test() ? when_long : usual;
}

}  // namespace slipway
