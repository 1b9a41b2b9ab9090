// The random streams of rng=megatron: names, seeds and bookkeeping of Megatron-core's tracker (reference 1.2), over
// Philox4x32-10 instead of a device's generator. A stream is a seed, which is the key, and an offset that counts blocks
// of four numbers already handed out. One rank, one driver thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace slipway {

// Regions that the tensor parallel ranks all compute alike; also the stream outside of every fork.
inline constexpr const char* kDataParallelRng = "data-parallel-rng";
// Regions, and weights, that are cut over the tensor parallel ranks.
inline constexpr const char* kModelParallelRng = "model-parallel-rng";
inline constexpr const char* kExpertParallelRng = "expert-parallel-rng";

// What seeds depend on.
struct StreamPlace {
  int pp_rank = 0, tp_rank = 0, ep_rank = 0, etp_rank = 0;
  int dp_rank = 0;  // 0 unless data_parallel_random_init
};

class StreamTracker {
 public:
  struct Stream {
    uint64_t seed = 0, offset = 0;
    bool operator==(const Stream&) const = default;
  };

  // Throws ConfigError for a name or a seed that is there already.
  void add(const std::string& name, uint64_t seed);
  bool has(const std::string& name) const { return streams_.contains(name); }
  const Stream& at(const std::string& name) const;

  // The next `blocks` of four numbers of a stream: its seed and the offset of the first. Throws ConfigError for an
  // unknown name.
  Stream reserve(const std::string& name, uint64_t blocks);

  // While it lives, reserve() without a name takes from `name`; forks nest.
  class Fork {
   public:
    explicit Fork(StreamTracker& tracker, const std::string& name = kModelParallelRng);
    ~Fork() { tracker_.current_ = outer_; }
    Fork(const Fork&) = delete;
    Fork& operator=(const Fork&) = delete;

   private:
    StreamTracker& tracker_;
    std::string outer_;
  };
  Stream reserve(uint64_t blocks) { return reserve(current_, blocks); }

  // All streams as JSON text, there and back. Throws CheckpointError for a text that does not hold these streams, by
  // name and seed.
  std::string to_json() const;
  void restore(const std::string& text);

 private:
  std::map<std::string, Stream> streams_;
  std::string current_ = kDataParallelRng;
};

// The three streams of a rank: s = seed + 100 pp (+ 10 dp); s; s + 2718 + tp; s + 1024 + 100 ep + etp. Ranks may share
// a seed (pp 1, ep 0 and pp 0, ep 1 do), as in Megatron; one rank's streams may not.
StreamTracker megatron_streams(uint64_t seed, const StreamPlace& place);

}  // namespace slipway
