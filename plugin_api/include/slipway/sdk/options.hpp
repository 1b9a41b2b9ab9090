// Option tables: what a component can be told, as constants that the host checks and prints. Built at compile time:
//
//   constexpr slw::Options kOptions{
//       slw::int_option("vocab_size", "250", "Number of token ids.").min("1"),
//       slw::string_option("mode", R"("fast")", "How to sort.").choices(kModes),
//   };
#pragma once

#include <slipway/sdk/structs.hpp>

SLW_SDK_BEGIN

// One row; each call returns a changed copy. Texts and lists must live as long as the plugin.
struct Option {
  slw_option row;

 private:
  // Above its users: clang evaluates none of them at compile time otherwise.
  template <class Member>
  constexpr Option with(Member slw_option::*member, Member value) const {
    Option changed = *this;
    changed.row.*member = value;
    return changed;
  }

 public:
  constexpr Option min(const char* json) const { return with(&slw_option::min_json, json); }
  constexpr Option max(const char* json) const { return with(&slw_option::max_json, json); }
  // A NULL-terminated list of the allowed strings.
  constexpr Option choices(const char* const* list) const { return with(&slw_option::choices, list); }
  // A NULL-terminated list of other spellings: "other-name", or "flag=value".
  constexpr Option aliases(const char* const* list) const { return with(&slw_option::aliases, list); }
  // A path, or a JSON list of paths: the host makes it absolute.
  constexpr Option path() const { return with(&slw_option::flags, row.flags | SLW_OPTION_PATH); }
};

// Does `json` look like a value of the type? Called at compile time, where false stops the build.
constexpr bool fits_type(int32_t type, const char* json) {
  if (json == nullptr || json[0] == 'n') return true;
  const char c = json[0];
  switch (type) {
    case SLW_OPT_BOOL:
      return c == 't' || c == 'f';
    case SLW_OPT_INT:
    case SLW_OPT_FLOAT:
      return c == '-' || (c >= '0' && c <= '9');
    case SLW_OPT_STRING:
      return c == '"';
    default:
      return true;
  }
}

// default_json is JSON text, so a string needs its quotes. nullptr: the user has to give a value. "null": may stay
// unset.
constexpr Option option(int32_t type, const char* name, const char* default_json, const char* help) {
  if (!fits_type(type, default_json)) throw Error(SLW_INTERNAL, "the default of an option is not JSON of its type");
  slw_option row = make<slw_option>();
  row.type = type;
  row.name = name;
  row.default_json = default_json;
  row.help = help;
  return Option{row};
}
constexpr Option bool_option(const char* name, const char* default_json, const char* help) {
  return option(SLW_OPT_BOOL, name, default_json, help);
}
constexpr Option int_option(const char* name, const char* default_json, const char* help) {
  return option(SLW_OPT_INT, name, default_json, help);
}
constexpr Option float_option(const char* name, const char* default_json, const char* help) {
  return option(SLW_OPT_FLOAT, name, default_json, help);
}
constexpr Option string_option(const char* name, const char* default_json, const char* help) {
  return option(SLW_OPT_STRING, name, default_json, help);
}
constexpr Option json_option(const char* name, const char* default_json, const char* help) {
  return option(SLW_OPT_JSON, name, default_json, help);
}

// The table of a component. Make it a constant with static storage: slw_component keeps pointers into it.
template <std::size_t N>
class Options {
 public:
  template <class... Rows>
  constexpr explicit Options(const Rows&... rows) : rows_{rows.row...}, pointers_{} {
    for (std::size_t i = 0; i < N; ++i) pointers_[i] = &rows_[i];
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  constexpr uint32_t size() const { return N; }
  constexpr const slw_option* const* data() const { return pointers_; }

 private:
  slw_option rows_[N];
  const slw_option* pointers_[N];
};
template <class... Rows>
Options(const Rows&...) -> Options<sizeof...(Rows)>;

// The table of a component that has no options.
struct NoOptions {
  constexpr uint32_t size() const { return 0; }
  constexpr const slw_option* const* data() const { return nullptr; }
};

SLW_SDK_END
