#include "launcher/lines.h"

#include <fcntl.h>

#include <array>
#include <cerrno>

namespace slipway {
namespace {

// A line that does not end is passed on in pieces of this size.
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
// Enough for a full pipe, and an end for one that is filled as fast as it is read.
constexpr int kBlocksPerPump = 16;

}  // namespace

LineReader::LineReader(Descriptor source, OnLine on_line) : source_(std::move(source)), on_line_(std::move(on_line)) {
  if (source_.is_open()) ::fcntl(source_.get(), F_SETFL, O_NONBLOCK);
}

void LineReader::pump() {
  std::array<char, 1 << 16> block;
  for (int blocks = 0; source_.is_open() && blocks < kBlocksPerPump; ++blocks) {
    const ssize_t got = ::read(source_.get(), block.data(), block.size());
    if (got > 0) {
      take(block.data(), static_cast<std::size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    source_.close();
  }
  if (!source_.is_open() && !pending_.empty()) on_line_(std::exchange(pending_, ""));
}

void LineReader::finish() {
  pump();
  source_.close();
  pump();
}

void LineReader::take(const char* data, std::size_t bytes) {
  pending_.append(data, bytes);
  std::size_t begin = 0;
  for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    on_line_(pending_.substr(begin, end - begin));
  }
  pending_.erase(0, begin);
  if (pending_.size() > kMaxLineBytes) on_line_(std::exchange(pending_, ""));
}

void write_text(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

}  // namespace slipway
