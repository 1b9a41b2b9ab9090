// The one way the core calls into a plugin: a status other than SLW_OK becomes an exception that names the plugin, the
// call and the plugin's own words; a crash is named by its mark (base/crash_report.h). Values; any thread.
#pragma once

#include <slipway/base.h>

#include <array>
#include <string>

#include "core/base/crash_report.h"
#include "core/base/error.h"

namespace slipway {

// Who is called, for messages: "model gpt (org.slipway.gpt)".
struct CallSite {
  std::string component;
  ExitCode blame = ExitCode::kPlugin;  // exit code of its failures; SLW_COMM is always kRankDied
  std::string file = {};               // of the plugin; named when the call crashes

  CallMark mark(const char* function) const { return {function, component.c_str(), file.c_str()}; }
};

// Throws what `status` means. An SLW_INVALID_ARGUMENT from `create` is the user's mistake: exit code 2.
[[noreturn]] void throw_plugin_failure(const CallSite& site, const char* function, slw_status status,
                                       const std::string& message);

// call(site, "forward", [&](slw_error* e) { return vt->forward(model, &args, e); })
template <class F>
void call(const CallSite& site, const char* function, F&& f) {
  std::array<char, 2048> text{};
  slw_error error{SLW_SIZE_TO(slw_error, needed), SLW_OK, text.data(), static_cast<uint32_t>(text.size()), 0};
  const CallMark mark = site.mark(function);
  const slw_status status = f(&error);
  if (status != SLW_OK) throw_plugin_failure(site, function, status, text.data());
}

}  // namespace slipway
