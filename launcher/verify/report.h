// What verify-parallelism found, as a table and as JSON. Pure functions over values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/outcome.h"
#include "launcher/verify/judge.h"
#include "launcher/verify/layout.h"

namespace slipway {

struct Verdict {
  Layout layout;
  std::optional<Comparison> comparison;  // nullopt: the run failed
  Outcome outcome;                       // of the run

  bool passed() const { return comparison && comparison->passed(); }
};

// The run did not want this layout, which is no failure of a run.
bool is_refusal(const Outcome& outcome);

// The lines of the table: its head with the reference run, then for each layout a row with the reasons of a failure
// below it. `layouts` give the width.
std::string table_head(const std::vector<Layout>& layouts);
std::string table_row(const std::vector<Layout>& layouts, const Verdict& verdict);

std::string verdicts_json(int64_t steps, const std::vector<Verdict>& verdicts);

}  // namespace slipway
