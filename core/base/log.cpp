#include "core/base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

constexpr std::array<const char*, 5> kLevelNames = {"debug", "info", "warning", "error", "off"};

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  std::snprintf(text.data() + length, text.size() - length, ".%03d", static_cast<int>(since_epoch.count() % 1000));
  return text.data();
}

// A log that cannot be written must not end a run: what the device refuses is dropped.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

struct Log::Sinks {
  std::mutex mutex;
  bool to_stderr = true;
  std::vector<int> files;
};

LogLevel log_level(std::string_view name) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (name == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  throw ConfigError("there is no log level " + in_quotes(name) + suggestion(name, log_level_names()));
}

std::vector<std::string> log_level_names() { return {kLevelNames.begin(), kLevelNames.end()}; }

Log::Log(LogLevel level, std::string prefix)
    : level_(level), prefix_(std::move(prefix)), sinks_(std::make_unique<Sinks>()) {}

Log::~Log() {
  for (int fd : sinks_->files) ::close(fd);
}

void Log::add_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) throw Error(ExitCode::kUsage, "cannot open the log file " + path + ": " + std::strerror(errno));
  const std::lock_guard lock(sinks_->mutex);
  sinks_->files.push_back(fd);
}

void Log::set_stderr(bool enabled) {
  const std::lock_guard lock(sinks_->mutex);
  sinks_->to_stderr = enabled;
}

bool Log::enabled(LogLevel level) const { return level >= level_ && level != LogLevel::kOff; }

void Log::write(LogLevel level, std::string_view text) {
  if (!enabled(level)) return;
  std::string line = timestamp() + " " + kLevelNames[static_cast<std::size_t>(level)] + ": ";
  if (!prefix_.empty()) line += "[" + prefix_ + "] ";
  line += text;
  line += '\n';
  const std::lock_guard lock(sinks_->mutex);
  if (sinks_->to_stderr) write_all(STDERR_FILENO, line);
  for (int fd : sinks_->files) write_all(fd, line);
}

}  // namespace slipway
