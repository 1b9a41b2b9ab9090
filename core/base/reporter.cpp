#include "core/base/reporter.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace slipway {
namespace {

std::string line_of(const nlohmann::json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

int Reporter::fd_from_environment() {
  const char* text = std::getenv("SLIPWAY_REPORT_FD");
  if (!text) return -1;
  char* end = nullptr;
  const long fd = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || fd < 3 || fd > 1 << 20) return -1;
  if (::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC) != 0) return -1;
  return static_cast<int>(fd);
}

void Reporter::crumb(const std::string& text) {
  if (connected()) send(line_of({{"crumb", text}}));
}

void Reporter::no_crumb() noexcept {
  if (connected()) send("{\"crumb\":\"\"}\n");
}

void Reporter::trace(const RankTrace& trace) {
  if (connected()) send(line_of({{"trace", to_json(trace)}}));
}

void Reporter::error(ExitCode code, const std::string& step, const std::string& message) {
  if (connected()) send(line_of({{"error", message}, {"exit_code", static_cast<int>(code)}, {"step", step}}));
}

// What cannot be written is dropped: without a reader there is nobody to tell.
void Reporter::send(std::string_view line) noexcept {
  const std::lock_guard lock(mutex_);
  while (!line.empty()) {
    const ssize_t written = ::write(fd_, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace slipway
