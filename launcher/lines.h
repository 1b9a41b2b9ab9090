// Bytes of a pipe as lines. One thread.
#pragma once

#include <functional>
#include <string>

#include "launcher/descriptor.h"

namespace slipway {

class LineReader {
 public:
  using OnLine = std::function<void(const std::string& line)>;  // without the line end

  LineReader(Descriptor source, OnLine on_line);

  // -1 once the pipe has ended.
  int fd() const { return source_.get(); }
  // Passes on what has arrived, without waiting, a good portion at most; a last line without line end when the pipe
  // ends.
  void pump();
  // Passes on the rest and closes.
  void finish();

 private:
  void take(const char* data, std::size_t bytes);

  Descriptor source_;
  OnLine on_line_;
  std::string pending_;
};

// Writes all of it to a descriptor, past interrupts; gives up on any other error.
void write_text(int fd, const std::string& text);

}  // namespace slipway
