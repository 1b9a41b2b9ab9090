#include "core/plugin_host/call.h"

#include <cstring>

namespace slipway {
namespace {

const char* status_name(slw_status status) {
  constexpr const char* kNames[] = {"ok",   "cancelled", "invalid argument", "unsupported", "out of memory", "io",
                                    "comm", "numeric",   "precondition",     "end of data", "internal"};
  return status >= 0 && status < static_cast<slw_status>(std::size(kNames)) ? kNames[status] : "unknown status";
}

}  // namespace

void throw_plugin_failure(const CallSite& site, const char* function, slw_status status, const std::string& message) {
  const bool in_create = std::strcmp(function, "create") == 0;
  std::string text = site.component + ": " + (message.empty() ? "no message" : message);
  if (!in_create) text += " (" + std::string(function) + ", " + status_name(status) + ")";
  ExitCode code = site.blame;
  if (status == SLW_COMM) code = ExitCode::kRankDied;
  if (in_create && site.blame == ExitCode::kPlugin && (status == SLW_INVALID_ARGUMENT || status == SLW_UNSUPPORTED)) {
    code = ExitCode::kUsage;
  }
  throw Error(code, text);
}

}  // namespace slipway
