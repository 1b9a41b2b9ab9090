#include "launcher/verify/runs_folder.h"

#include <stdlib.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strings.h"

namespace slipway {

namespace fs = std::filesystem;

RunsFolder::RunsFolder(const std::string& wanted) : path_(wanted), keeps_(!wanted.empty()) {
  if (keeps_) {
    make_dirs(wanted, ExitCode::kUsage);
    return;
  }
  std::string pattern = (fs::temp_directory_path() / "slipway-verify-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw ConfigError("no temporary folder " + pattern + ": " + system_reason(errno) + "; give --output-dir DIR");
  }
  path_ = pattern;
}

RunsFolder::~RunsFolder() {
  std::error_code ignored;
  if (!keeps_) fs::remove_all(path_, ignored);
}

fs::path RunsFolder::of(const Layout& layout) const { return path_ / replace_char(layout.name, ' ', '_'); }

void RunsFolder::drop(const Layout& layout) const {
  std::error_code ignored;
  if (!keeps_) fs::remove_all(of(layout), ignored);
}

}  // namespace slipway
