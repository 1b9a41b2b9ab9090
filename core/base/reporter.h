// How a rank tells the launcher what it is doing and why it fails: lines of JSON through the file descriptor that the
// launcher leaves in SLIPWAY_REPORT_FD. Without a launcher everything here is silent. Thread-safe.
//   {"crumb": "init of /path/plugin.so"}   before a plugin is loaded, and before its init; "" when that came back
//   {"trace": {...}}   what the rank was doing (rank_trace.h): before its error, and when a signal asks it to stop
//   {"error": "...", "exit_code": 5, "step": "initialize"}   once, before the rank exits
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/rank_trace.h"

namespace slipway {

class Reporter {
 public:
  // `fd` is not owned; -1 makes a silent reporter.
  explicit Reporter(int fd) : fd_(fd) {}
  // The descriptor in SLIPWAY_REPORT_FD or -1; programs that this process starts do not inherit it any more.
  static int fd_from_environment();

  bool connected() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void crumb(const std::string& text);
  // The call came back.
  void no_crumb() noexcept;
  void trace(const RankTrace& trace);
  void error(ExitCode code, const std::string& step, const std::string& message);

 private:
  void send(std::string_view line) noexcept;

  std::mutex mutex_;
  int fd_;
};

// Names what is about to be called for as long as it lives. Scopes do not nest.
class Crumb {
 public:
  Crumb(Reporter& reporter, const std::string& text) : reporter_(reporter) { reporter_.crumb(text); }
  ~Crumb() { reporter_.no_crumb(); }
  Crumb(const Crumb&) = delete;
  Crumb& operator=(const Crumb&) = delete;

 private:
  Reporter& reporter_;
};

}  // namespace slipway
