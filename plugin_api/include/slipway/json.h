/* Reads options in plain C: lookups in the JSON object that `create` gets. The host has validated the text; these
 * functions are still safe on any NUL-terminated text: they answer 0 instead of reading past its end. Keys are those of
 * the object itself, values may be nested. Each call walks the text; no memory is kept or taken. Any thread.
 */
#ifndef SLIPWAY_JSON_H_
#define SLIPWAY_JSON_H_

#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline const char* slw_json_skip_space(const char* at) {
  while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') ++at;
  return at;
}

/* One hexadecimal code unit after "\u"; -1: not four digits. */
static inline int32_t slw_json_unit(const char* at) {
  int32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at[i];
    int digit;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return -1;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}

/* A code point as UTF-8; returns the number of bytes. */
static inline size_t slw_json_utf8(int32_t point, char out[4]) {
  if (point < 0x80) {
    out[0] = (char)point;
    return 1;
  }
  if (point < 0x800) {
    out[0] = (char)(0xC0 | (point >> 6));
    out[1] = (char)(0x80 | (point & 0x3F));
    return 2;
  }
  if (point < 0x10000) {
    out[0] = (char)(0xE0 | (point >> 12));
    out[1] = (char)(0x80 | ((point >> 6) & 0x3F));
    out[2] = (char)(0x80 | (point & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | (point >> 18));
  out[1] = (char)(0x80 | ((point >> 12) & 0x3F));
  out[2] = (char)(0x80 | ((point >> 6) & 0x3F));
  out[3] = (char)(0x80 | (point & 0x3F));
  return 4;
}

/* "\uXXXX" or a surrogate pair; `at` is behind the first "\u". Returns what follows, NULL when malformed. */
static inline const char* slw_json_escaped_point(const char* at, char out[4], size_t* bytes) {
  int32_t point = slw_json_unit(at);
  if (point < 0 || (point >= 0xDC00 && point < 0xE000)) return NULL;
  at += 4;
  if (point >= 0xD800 && point < 0xDC00) {
    if (at[0] != '\\' || at[1] != 'u') return NULL;
    const int32_t low = slw_json_unit(at + 2);
    if (low < 0xDC00 || low >= 0xE000) return NULL;
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    at += 6;
  }
  *bytes = slw_json_utf8(point, out);
  return at;
}

/* The next character of a string, decoded; `at` is inside the quotes and not at the closing one. Returns what follows,
 * NULL when malformed. */
static inline const char* slw_json_character(const char* at, char out[4], size_t* bytes) {
  static const char kEscapes[] = "\"\\/bfnrt";
  static const char kMeanings[] = "\"\\/\b\f\n\r\t";
  *bytes = 1;
  out[0] = *at;
  if ((unsigned char)*at < 0x20) return NULL;
  if (*at != '\\') return at + 1;
  if (at[1] == 'u') return slw_json_escaped_point(at + 2, out, bytes);
  const char* escape = at[1] == '\0' ? NULL : strchr(kEscapes, at[1]);
  if (escape == NULL) return NULL;
  out[0] = kMeanings[escape - kEscapes];
  return at + 2;
}

/* Decodes the string that begins at `at` (its opening quote) into out[0, capacity), cut there; NUL is added when there
 * is room. `length` gets its full length. Returns what follows, NULL when malformed. */
static inline const char* slw_json_decode(const char* at, char* out, size_t capacity, size_t* length) {
  if (*at++ != '"') return NULL;
  *length = 0;
  while (*at != '"') {
    char character[4];
    size_t bytes;
    at = slw_json_character(at, character, &bytes);
    if (at == NULL) return NULL;
    for (size_t i = 0; i < bytes; ++i, ++*length) {
      if (*length < capacity) out[*length] = character[i];
    }
  }
  if (capacity > 0) out[*length < capacity ? *length : capacity - 1] = '\0';
  return at + 1;
}

/* The first character after the value at `at`, NULL when the text ends inside it. */
static inline const char* slw_json_skip_value(const char* at) {
  int64_t depth = 0;
  do {
    size_t length;
    at = slw_json_skip_space(at);
    if (*at == '\0') return NULL;
    if (*at == '"') {
      at = slw_json_decode(at, NULL, 0, &length);
      if (at == NULL) return NULL;
    } else if (*at == '{' || *at == '[') {
      ++depth;
      ++at;
    } else if (*at == '}' || *at == ']') {
      --depth;
      ++at;
    } else if (*at == ',' || *at == ':') {
      if (depth == 0) return NULL;
      ++at;
    } else {
      at += strcspn(at, "{}[],:\" \t\r\n");
    }
    if (depth < 0) return NULL;
  } while (depth > 0);
  return at;
}

/* Is the (perhaps escaped) string at `at` equal to `key`? `end` gets what follows it, NULL when malformed. */
static inline int slw_json_key_is(const char* at, const char* key, const char** end) {
  const size_t wanted = strlen(key);
  size_t done = 0;
  int equal = 1;
  *end = NULL;
  if (*at++ != '"') return 0;
  while (*at != '"') {
    char character[4];
    size_t bytes;
    at = slw_json_character(at, character, &bytes);
    if (at == NULL) return 0;
    if (equal && (done + bytes > wanted || memcmp(key + done, character, bytes) != 0)) equal = 0;
    done += bytes;
  }
  *end = at + 1;
  return equal && done == wanted;
}

/* The JSON text of the value of `key`, NULL when the object has no such key. It ends where slw_json_skip_value says. */
static inline const char* slw_json_value(const char* json, const char* key) {
  const char* at = slw_json_skip_space(json);
  if (*at++ != '{') return NULL;
  at = slw_json_skip_space(at);
  while (*at == '"') {
    const char* after;
    const int found = slw_json_key_is(at, key, &after);
    if (after == NULL) return NULL;
    at = slw_json_skip_space(after);
    if (*at++ != ':') return NULL;
    at = slw_json_skip_space(at);
    const char* end = slw_json_skip_value(at);
    if (end == NULL) return NULL;
    if (found) return at;
    at = slw_json_skip_space(end);
    if (*at != ',') return NULL;
    at = slw_json_skip_space(at + 1);
  }
  return NULL;
}

/* Is the key there, with another value than null? */
static inline int slw_json_has(const char* json, const char* key) {
  const char* value = slw_json_value(json, key);
  return value != NULL && *value != 'n';
}

static inline int slw_json_bool(const char* json, const char* key, int* out) {
  const char* value = slw_json_value(json, key);
  if (value == NULL) return 0;
  const size_t length = (size_t)(slw_json_skip_value(value) - value);
  const int is_true = length == 4 && memcmp(value, "true", 4) == 0;
  if (!is_true && !(length == 5 && memcmp(value, "false", 5) == 0)) return 0;
  *out = is_true;
  return 1;
}

/* An integer that fits; 1.0 and 1e3 are none. */
static inline int slw_json_int(const char* json, const char* key, int64_t* out) {
  const char* value = slw_json_value(json, key);
  if (value == NULL || (*value != '-' && (*value < '0' || *value > '9'))) return 0;
  char* end;
  const int saved_errno = errno;
  errno = 0;
  const long long number = strtoll(value, &end, 10);
  const int fits = errno == 0 && end == slw_json_skip_value(value) && end[-1] != '-';
  errno = saved_errno;
  if (fits) *out = (int64_t)number;
  return fits;
}

/* A number, also a whole one; whatever the locale's decimal point is. */
static inline int slw_json_double(const char* json, const char* key, double* out) {
  const char* value = slw_json_value(json, key);
  if (value == NULL || (*value != '-' && (*value < '0' || *value > '9'))) return 0;
  const size_t length = (size_t)(slw_json_skip_value(value) - value);
  char text[512];
  if (length >= sizeof text || strspn(value, "0123456789+-.eE") < length) return 0;
  memcpy(text, value, length);
  text[length] = '\0';
  char* point = strchr(text, '.');
  if (point != NULL) *point = localeconv()->decimal_point[0];
  char* end;
  const double number = strtod(text, &end);
  if (*end != '\0') return 0;
  *out = number;
  return 1;
}

/* A string, decoded to UTF-8. `needed` (or NULL) gets its length + 1; it is written only if that is at most `capacity`,
 * and only then the answer is 1. A string with an escaped NUL is refused. */
static inline int slw_json_string(const char* json, const char* key, char* out, size_t capacity, size_t* needed) {
  const char* value = slw_json_value(json, key);
  size_t length;
  if (value == NULL || slw_json_decode(value, NULL, 0, &length) == NULL) return 0;
  if (needed != NULL) *needed = length + 1;
  if (length + 1 > capacity) return 0;
  slw_json_decode(value, out, capacity, &length);
  return strlen(out) == length;
}

#endif /* SLIPWAY_JSON_H_ */
