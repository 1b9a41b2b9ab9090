// Reads a growable struct of the other side of the border (rules in slipway/base.h). Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/error.h"

namespace slipway {

// A copy whose missing tail is zero. Throws PluginError when the other side is newer and says something that this host
// cannot read, or when the size cannot be right.
template <class T>
T read_struct(const T* other, const char* type_name) {
  constexpr uint32_t kLargestPlausible = 64 * 1024;
  if (other == nullptr) throw PluginError(std::string(type_name) + " is NULL");
  const uint32_t size = other->struct_size;
  if (size < sizeof(uint32_t) || size > kLargestPlausible) {
    throw PluginError(std::string(type_name) + ".struct_size is " + std::to_string(size) +
                      "; set it with SLW_SIZE_TO(type, last field)");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(other);
  for (uint32_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) {
      throw PluginError(std::string(type_name) + " has a field at byte " + std::to_string(i) +
                        " that this host does not know; it was built with a newer plugin ABI");
    }
  }
  T copy{};
  std::memcpy(&copy, other, std::min<size_t>(size, sizeof(T)));
  return copy;
}

// Refuses must-understand bits (0-15) outside `known`.
inline void check_flags(uint32_t flags, uint32_t known, const char* what) {
  const uint32_t unknown = flags & 0xFFFFu & ~known;
  if (unknown != 0) {
    throw PluginError(std::string(what) + " has flag bits that this host does not know: " + std::to_string(unknown));
  }
}

}  // namespace slipway
