#include "core/checkpoint/checksums.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/strings.h"
#include "core/checkpoint/file_io.h"

namespace slipway {
namespace {

constexpr const char* kFirstLine = "slipway-checksums 1";
constexpr std::uint64_t kMaxListBytes = std::uint64_t{64} << 20;

[[noreturn]] void fail_damaged(const std::filesystem::path& file, const std::string& reason) {
  throw CheckpointError(file.string() + ": " + reason +
                        ": the file is damaged; restore it from a copy, or resume from an older step by writing that " +
                        "folder's name into " + (file.parent_path().parent_path() / "latest").string());
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "<16 hexadecimal digits> <bytes> <name>"
std::optional<FileRecord> parse_line(const std::string& line) {
  const std::vector<std::string> fields = split(line, ' ');
  if (fields.size() != 3 || fields[0].size() != 16) return std::nullopt;
  const std::optional<std::uint64_t> hash = parse_number(fields[0], 16);
  const std::optional<std::uint64_t> bytes = parse_number(fields[1], 10);
  if (!hash || !bytes) return std::nullopt;
  return FileRecord{fields[2], *bytes, *hash};
}

std::string last_line(std::string_view list) { return hex64(xxh3_64(list.data(), list.size())) + " end\n"; }

// The lines before the last one, whose checksum of them must be right.
std::string_view checked_list(std::string_view text, const std::string& path) {
  const std::size_t last_size = last_line("").size();
  const std::size_t list_size = text.size() - std::min(text.size(), last_size);
  const std::string_view list = text.substr(0, list_size);
  if (text.substr(list_size) != last_line(list)) {
    fail_damaged(path, "its last line is not the checksum of the lines before");
  }
  return list;
}

}  // namespace

std::string file_name_problem(const std::string& name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
  });
  if (name.empty() || name.size() > 255 || name.front() == '.' || !is_plain) {
    return "file name " + in_quotes(name) + " is not made of letters, digits, '_', '-' and '.'";
  }
  return "";
}

void write_checksums(const std::filesystem::path& folder, const std::vector<FileRecord>& files) {
  std::string list = std::string(kFirstLine) + "\n";
  for (const FileRecord& file : files) {
    list += hex64(file.xxh3) + " " + std::to_string(file.bytes) + " " + file.name + "\n";
  }
  write_text_file(folder / kChecksumsFile, list + last_line(list));
}

std::vector<FileRecord> read_checksums(const std::filesystem::path& folder) {
  const std::string path = (folder / kChecksumsFile).string();
  const std::string text = read_small_file(path, kMaxListBytes);
  std::vector<std::string> lines = split(checked_list(text, path), '\n');
  if (lines.size() < 2 || lines.front() != kFirstLine || !lines.back().empty()) {
    throw CheckpointError(path + ": does not begin with \"" + kFirstLine + "\"");
  }
  std::vector<FileRecord> files;
  std::set<std::string> names;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::string where = path + ": line " + std::to_string(i + 1);
    const std::optional<FileRecord> file = parse_line(lines[i]);
    if (!file) throw CheckpointError(where + ": is not \"<checksum> <bytes> <file>\"");
    if (const std::string problem = file_name_problem(file->name); !problem.empty()) {
      throw CheckpointError(where + ": " + problem);
    }
    if (!names.insert(file->name).second) throw CheckpointError(where + ": " + file->name + " appears twice");
    files.push_back(*file);
  }
  return files;
}

void check_size(const std::filesystem::path& folder, const FileRecord& file) {
  const std::uint64_t bytes = InputFile(folder / file.name).bytes();
  if (bytes == file.bytes) return;
  fail_damaged(folder / file.name, "has " + std::to_string(bytes) + " bytes instead of " + std::to_string(file.bytes));
}

void check_checksum(const std::filesystem::path& folder, const FileRecord& file) {
  const WrittenFile found = checksum_file(folder / file.name);
  if (found.bytes == file.bytes && found.xxh3 == file.xxh3) return;
  fail_damaged(folder / file.name, "has checksum " + hex64(found.xxh3) + " instead of " + hex64(file.xxh3) + " (XXH3)");
}

}  // namespace slipway
