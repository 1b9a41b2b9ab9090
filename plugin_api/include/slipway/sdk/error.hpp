// Errors on the plugin's side of the border: code throws slw::Error, and guard() turns whatever is thrown into a status
// and a text. No exception ever leaves a plugin. Pure functions; any thread.
#pragma once

#include <slipway/base.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <locale>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

// The SDK is compiled into each plugin. Hidden, and in a namespace per version: two plugins with two SDKs never mix.
#define SLW_SDK_BEGIN                                   \
  namespace slw __attribute__((visibility("hidden"))) { \
    inline namespace sdk0 {
#define SLW_SDK_END \
  }                 \
  }

SLW_SDK_BEGIN

// A failure with a status and a text that names what was wrong, where, what is allowed and what to do next.
class Error : public std::runtime_error {
 public:
  Error(slw_status code, const std::string& message) : std::runtime_error(message), code_(code) {}
  slw_status code() const noexcept { return code_; }

 private:
  slw_status code_;
};

// The arguments as one text: cat("got ", 7, ", allowed: ", 1.5).
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(17);
  (text << ... << parts);
  return text.str();
}

// How many bytes of `message` fit into `room` without cutting a UTF-8 character.
inline std::size_t fitting_bytes(const char* message, std::size_t length, std::size_t room) noexcept {
  if (length <= room) return length;
  std::size_t end = room;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0u) == 0x80u) --end;
  return end;
}

// Fills the caller's error, as far as the caller has room for it; returns `code`.
inline slw_status put(slw_error* error, slw_status code, const char* message) noexcept {
  if (SLW_HAS(error, slw_error, code)) error->code = code;
  const std::size_t length = std::strlen(message);
  if (SLW_HAS(error, slw_error, capacity) && error->message != nullptr && error->capacity > 0) {
    const std::size_t bytes = fitting_bytes(message, length, error->capacity - 1);
    std::memcpy(error->message, message, bytes);
    error->message[bytes] = '\0';
  }
  if (SLW_HAS(error, slw_error, needed)) error->needed = static_cast<uint32_t>(length + 1);
  return code;
}

// Runs `body`, the only way in which C++ code of a plugin is entered. What it throws becomes a status and a text.
template <class Body>
slw_status guard(slw_error* error, Body&& body) noexcept {
  try {
    body();
    return SLW_OK;
  } catch (const Error& e) {
    return put(error, e.code() == SLW_OK ? SLW_INTERNAL : e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return put(error, SLW_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& e) {
    return put(error, SLW_INTERNAL, e.what());
  } catch (...) {
    return put(error, SLW_INTERNAL, "unknown C++ exception");
  }
}

// Calls the other side: call([&](slw_error* e) { return sink->add(sink, &field, e); }). Throws what it reports.
template <class Function>
void call(Function&& function) {
  char text[2048] = {};
  slw_error error{SLW_SIZE_TO(slw_error, needed), SLW_OK, text, sizeof text, 0};
  const slw_status status = function(&error);
  if (status == SLW_OK) return;
  throw Error(status, text[0] != '\0' ? std::string(text) : cat("a call failed with status ", status, " and no text"));
}

SLW_SDK_END
