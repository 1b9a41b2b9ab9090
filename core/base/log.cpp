#include "core/base/log.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";
constexpr std::size_t kMaxEarlyLines = 1000;
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

// A log that cannot be written must not end a run: what the device refuses is dropped. False when some was.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool stderr_is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// A line as wide as the terminal would leave its end on the next row when it is drawn anew.
std::string fit(const std::string& text, std::size_t columns) {
  return text.substr(0, std::max<std::size_t>(1, columns) - 1);
}

struct LogFile {
  int fd;
  std::string path;
  bool is_complete = true;

  void write(std::string_view line) {
    if (write_all(fd, line) || !is_complete) return;
    is_complete = false;
    write_all(STDERR_FILENO, "warning: cannot write " + path + ": " + std::strerror(errno) +
                                 "; lines of the log are missing there from here on\n");
  }
};

}  // namespace

struct Log::Sinks {
  std::mutex mutex;
  bool to_stderr = true;
  bool is_terminal = stderr_is_terminal();
  std::string live;  // what is shown below the log
  std::vector<LogFile> files;
  std::deque<std::string> early;  // lines before the first file

  void erase_live() const {
    if (!live.empty()) write_all(STDERR_FILENO, kEraseLine);
  }
  void draw_live() const {
    if (!live.empty()) write_all(STDERR_FILENO, fit(live, terminal_columns()));
  }
  void keep(const std::string& line) {
    for (LogFile& file : files) file.write(line);
    if (!files.empty()) return;
    early.push_back(line);
    if (early.size() > kMaxEarlyLines) early.pop_front();
  }
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
  sinks_->erase_live();
  for (const LogFile& file : sinks_->files) ::close(file.fd);
}

void Log::add_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) throw Error(ExitCode::kUsage, "cannot open the log file " + path + ": " + std::strerror(errno));
  const std::lock_guard lock(sinks_->mutex);
  LogFile& file = sinks_->files.emplace_back(LogFile{fd, path});
  for (const std::string& line : sinks_->early) file.write(line);
  sinks_->early.clear();
}

void Log::set_stderr(bool enabled) {
  const std::lock_guard lock(sinks_->mutex);
  sinks_->to_stderr = enabled;
}

bool Log::is_terminal() const {
  const std::lock_guard lock(sinks_->mutex);
  return sinks_->to_stderr && sinks_->is_terminal;
}

void Log::show(std::string_view text) {
  if (!is_terminal()) return;
  const std::lock_guard lock(sinks_->mutex);
  sinks_->erase_live();
  sinks_->live = text;
  sinks_->draw_live();
}

bool Log::enabled(LogLevel level) const { return level >= level_ && level != LogLevel::kOff; }

std::string Log::line_of(LogLevel level, std::string_view text) const {
  std::string line = timestamp() + " " + kLevelNames[static_cast<std::size_t>(level)] + ": ";
  if (!prefix_.empty()) line += "[" + prefix_ + "] ";
  line += text;
  line += '\n';
  return line;
}

void Log::write(LogLevel level, std::string_view text) {
  if (!enabled(level)) return;
  const std::string line = line_of(level, text);
  const std::lock_guard lock(sinks_->mutex);
  if (sinks_->to_stderr) {
    sinks_->erase_live();
    write_all(STDERR_FILENO, line);
    sinks_->draw_live();
  }
  sinks_->keep(line);
}

void Log::write_to_files(LogLevel level, std::string_view text) {
  if (!enabled(level)) return;
  const std::string line = line_of(level, text);
  const std::lock_guard lock(sinks_->mutex);
  sinks_->keep(line);
}

}  // namespace slipway
