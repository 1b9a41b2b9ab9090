#include "launcher/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace slipway {
namespace {

struct Fixture {
  std::array<int, 2> ends{};
  std::vector<std::string> lines;
  std::unique_ptr<LineReader> reader;

  Fixture() {
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader =
        std::make_unique<LineReader>(Descriptor(ends[0]), [this](const std::string& line) { lines.push_back(line); });
  }
};

TEST(LineReader, WaitsForTheEndOfALine) {
  Fixture f;
  write_text(f.ends[1], "one\ntw");
  f.reader->pump();
  EXPECT_EQ(f.lines, std::vector<std::string>{"one"});
  write_text(f.ends[1], "o\n\n");
  f.reader->pump();
  EXPECT_EQ(f.lines, (std::vector<std::string>{"one", "two", ""}));
  ::close(f.ends[1]);
}

TEST(LineReader, PassesOnTheLastLineWithoutEnd) {
  Fixture f;
  write_text(f.ends[1], "rest");
  ::close(f.ends[1]);
  f.reader->pump();
  EXPECT_EQ(f.lines, std::vector<std::string>{"rest"});
  EXPECT_EQ(f.reader->fd(), -1);
}

TEST(LineReader, FinishDoesNotWaitForOthersThatHoldThePipe) {
  Fixture f;
  write_text(f.ends[1], "held");
  f.reader->finish();
  EXPECT_EQ(f.lines, std::vector<std::string>{"held"});
  ::close(f.ends[1]);
}

}  // namespace
}  // namespace slipway
