// metrics.jsonl: one JSON object a line and a line a step, or an evaluation; doubles with 17 digits. Written by one
// rank; every line is complete on the disk's side of the process before the next step begins. One owner.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace slipway {

class MetricsFile {
 public:
  // Where a resumed run goes on.
  struct Resume {
    int64_t last_step = 0;                 // lines of later steps go
    bool makes_up_for_evaluation = false;  // that step's evaluation comes again: its line goes too
  };
  // Opens `path` to append. Removed first: what a resume writes again, what finalize evaluated (lines with "final"),
  // and a last line that a kill cut off; anything else that is no step is an Error naming file and line.
  MetricsFile(const std::string& path, const Resume& resume);

  // `line` has "step" first. Throws Error when the disk refuses it.
  void append(const nlohmann::ordered_json& line);
  // What was appended is on the disk when it returns. Throws Error.
  void sync();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

// A JSON number that reads back as the same double; infinities and NaN become the strings "inf", "-inf", "nan".
nlohmann::ordered_json json_number(double value);

}  // namespace slipway
