// The errors of the core. A user's mistake is a ConfigError, a failure of the world (file, network, plugin) one of
// the others; each carries the exit code with which the program ends. Our own bugs are SLW_CHECK, never used on input.
// Immutable values; any thread.
#pragma once

#include <stdexcept>
#include <string>

namespace slipway {

// Exit codes of both programs (DESIGN section 9).
enum class ExitCode : int {
  kDone = 0,
  kVerificationFailed = 1,
  kUsage = 2,     // command line, manifest or plan refused
  kRankDied = 3,  // a rank died, or a collective timed out
  kCheckpoint = 4,
  kData = 5,
  kPlugin = 6,
  kStoppedBySignal = 20,
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// The message names the field, its value, what is allowed and the next move.
struct ConfigError : Error {
  explicit ConfigError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};
struct CommError : Error {
  explicit CommError(const std::string& message) : Error(ExitCode::kRankDied, message) {}
};
struct CheckpointError : Error {
  explicit CheckpointError(const std::string& message) : Error(ExitCode::kCheckpoint, message) {}
};
struct DataError : Error {
  explicit DataError(const std::string& message) : Error(ExitCode::kData, message) {}
};
struct PluginError : Error {
  explicit PluginError(const std::string& message) : Error(ExitCode::kPlugin, message) {}
};

// Throws std::logic_error naming the place: a bug of ours, not of the user.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace slipway

#define SLW_CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::slipway::check_failed(#expression, __FILE__, __LINE__))
