#include "core/rng/stream_tracker.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

std::vector<std::string> names_of(const std::map<std::string, StreamTracker::Stream>& streams) {
  std::vector<std::string> names;
  for (const auto& [name, stream] : streams) names.push_back(name);
  return names;
}

}  // namespace

void StreamTracker::add(const std::string& name, uint64_t seed) {
  for (const auto& [known, stream] : streams_) {
    if (known == name) throw ConfigError("random stream " + in_quotes(name) + " is there already");
    if (stream.seed == seed) {
      throw ConfigError("random streams " + in_quotes(known) + " and " + in_quotes(name) +
                        " of one rank have the seed " + std::to_string(seed) +
                        "; change train.seed, or use rng invariant");
    }
  }
  streams_[name] = {seed, 0};
}

const StreamTracker::Stream& StreamTracker::at(const std::string& name) const {
  const auto found = streams_.find(name);
  if (found != streams_.end()) return found->second;
  throw ConfigError("there is no random stream " + in_quotes(name) + suggestion(name, names_of(streams_)));
}

StreamTracker::Stream StreamTracker::reserve(const std::string& name, uint64_t blocks) {
  const Stream reserved = at(name);
  streams_[name].offset += blocks;
  return reserved;
}

StreamTracker::Fork::Fork(StreamTracker& tracker, const std::string& name) : tracker_(tracker) {
  tracker.at(name);
  outer_ = std::exchange(tracker.current_, name);
}

std::string StreamTracker::to_json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, stream] : streams_) json[name] = {{"seed", stream.seed}, {"offset", stream.offset}};
  return json.dump();
}

void StreamTracker::restore(const std::string& text) {
  const auto refuse = [](const std::string& why) {
    throw CheckpointError("the random streams of the checkpoint are damaged or of another run: " + why);
  };
  const nlohmann::json stored = nlohmann::json::parse(text, nullptr, false);
  if (!stored.is_object() || stored.size() != streams_.size()) refuse("they are not " + join(names_of(streams_), ", "));
  std::map<std::string, Stream> restored = streams_;
  for (auto& [name, stream] : restored) {
    const auto found = stored.find(name);
    const bool has_both = found != stored.end() && found->is_object() && found->contains("seed") &&
                          found->contains("offset") && (*found)["seed"].is_number_unsigned() &&
                          (*found)["offset"].is_number_unsigned();
    if (!has_both) refuse(name + " has no seed and offset");
    if ((*found)["seed"] != stream.seed) {
      refuse("the seed of " + name + " is " + (*found)["seed"].dump() + ", this run has " +
             std::to_string(stream.seed));
    }
    stream.offset = (*found)["offset"].get<uint64_t>();
  }
  streams_ = std::move(restored);
}

StreamTracker megatron_streams(uint64_t seed, const StreamPlace& place) {
  const auto at = [](int rank) { return static_cast<uint64_t>(rank); };
  const uint64_t base = seed + 100 * at(place.pp_rank) + 10 * at(place.dp_rank);
  StreamTracker tracker;
  tracker.add(kDataParallelRng, base);
  tracker.add(kModelParallelRng, base + 2718 + at(place.tp_rank));
  tracker.add(kExpertParallelRng, base + 1024 + 100 * at(place.ep_rank) + at(place.etp_rank));
  return tracker;
}

}  // namespace slipway
