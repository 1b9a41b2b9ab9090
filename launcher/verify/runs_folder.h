// The folder below which verify-parallelism keeps its runs: the user's, or a temporary one that goes away with this
// object. One owner.
#pragma once

#include <filesystem>
#include <string>

#include "launcher/verify/layout.h"

namespace slipway {

class RunsFolder {
 public:
  // "": a temporary folder. Throws ConfigError or Error (usage) when it cannot be made.
  explicit RunsFolder(const std::string& wanted);
  ~RunsFolder();
  RunsFolder(const RunsFolder&) = delete;
  RunsFolder& operator=(const RunsFolder&) = delete;

  std::filesystem::path of(const Layout& layout) const;
  // Frees what the run takes, unless the user wants to keep it.
  void drop(const Layout& layout) const;

 private:
  std::filesystem::path path_;
  bool keeps_;
};

}  // namespace slipway
