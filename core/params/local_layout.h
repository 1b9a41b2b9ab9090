// Which part of a parameter one rank holds: the declared cuts applied to this rank's places in the groups that they
// name. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/params/param.h"

namespace slipway {

// The place of a rank in a group that cuts may name.
struct GroupPlace {
  int size = 1, rank = 0;
};
// By group name ("tp", "etp", "ep"); a missing one has one rank.
using GroupPlaces = std::map<std::string, GroupPlace>;

// The local tensor of `param` (padded, after its cuts) and its blocks. A plain cut leaves one block; a cut in parts
// (gate|up) one per part. Throws ConfigError with the numbers and the nearest sizes when a dimension does not divide.
LocalLayout local_layout(const ParamDeclaration& param, const GroupPlaces& places);

}  // namespace slipway
