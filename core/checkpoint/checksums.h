// checksums.txt of a checkpoint folder: size and XXH3 of every other file, closed by a line with its own, so that a
// damaged list is noticed too. Errors are CheckpointErrors naming the file. Pure functions of the file system; any
// thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace slipway {

inline constexpr const char* kChecksumsFile = "checksums.txt";
inline constexpr const char* kIndexFile = "index.json";
inline constexpr const char* kStateFile = "state.json";

// Why a name cannot be that of a file in a checkpoint folder ("leaves the folder"); empty when it can.
std::string file_name_problem(const std::string& name);

// Writes and syncs the list.
void write_checksums(const std::filesystem::path& folder, const std::vector<FileRecord>& files);

// The list, checked against its own last line; every name in it is a plain file name.
std::vector<FileRecord> read_checksums(const std::filesystem::path& folder);

// Throws unless the file is there with its size.
void check_size(const std::filesystem::path& folder, const FileRecord& file);

// Reads the whole file; throws unless its checksum is right.
void check_checksum(const std::filesystem::path& folder, const FileRecord& file);

}  // namespace slipway
