// A log: lines with time, level and a prefix, to stderr and to any number of files; on a terminal also one live line
// below them. Made once by a program's main and given to whoever reports something; nothing finds it by itself.
// Thread-safe: a line is written in one piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kOff = 4 };

// "debug", "info", "warning", "error", "off"; throws ConfigError for any other name.
LogLevel log_level(std::string_view name);
std::vector<std::string> log_level_names();

class Log {
 public:
  // Lines below `level` are dropped. `prefix` ("rank 3") stands before each text; "" writes none.
  explicit Log(LogLevel level, std::string prefix = "");
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Also writes every later line to the end of `path`; the first file gets the lines before too (the newest 1000).
  // Throws Error (usage) when it cannot be opened. Lines that the disk refuses later are lost there; stderr is told
  // once.
  void add_file(const std::string& path);
  // Stops or resumes writing to stderr; files are not concerned. On at first.
  void set_stderr(bool enabled);

  // Whether stderr is a terminal that can draw a line anew.
  bool is_terminal() const;
  // Shows `text` below the log until the next call, cut to the terminal's width; "" removes it. Nothing elsewhere.
  void show(std::string_view text);

  bool enabled(LogLevel level) const;
  void write(LogLevel level, std::string_view text);
  // To the files only.
  void write_to_files(LogLevel level, std::string_view text);
  void debug(std::string_view text) { write(LogLevel::kDebug, text); }
  void info(std::string_view text) { write(LogLevel::kInfo, text); }
  void warning(std::string_view text) { write(LogLevel::kWarning, text); }
  void error(std::string_view text) { write(LogLevel::kError, text); }

 private:
  struct Sinks;
  std::string line_of(LogLevel level, std::string_view text) const;

  LogLevel level_;
  std::string prefix_;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace slipway
