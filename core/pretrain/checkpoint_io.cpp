#include "core/pretrain/checkpoint_io.h"

#include <algorithm>
#include <deque>

#include "core/base/hash.h"
#include "core/base/progress_bar.h"
#include "core/base/strings.h"
#include "core/base/timer.h"
#include "core/pretrain/random_streams.h"
#include "core/pretrain/run_reports.h"
#include "core/pretrain/run_state.h"
#include "core/pretrain/stored_tensors.h"

namespace slipway {
namespace {

// What the data-parallel ranks all hold is spread over them by bytes, what the tensor-parallel ranks all hold in turns:
// each is written once and all write about as much.
class WriterAssignment {
 public:
  struct Seat {
    int size, rank;
  };
  WriterAssignment(const std::vector<StoredTensor>& tensors, Seat dp, Seat tp) : dp_(dp), tp_(tp) {
    for (const StoredTensor& tensor : tensors) {
      if (tensor.is_dp_replicated) total_ += tensor.values.size();
    }
  }
  bool next_is_mine(const StoredTensor& tensor) {
    const int dp_owner = static_cast<int>(before_ * static_cast<size_t>(dp_.size) / std::max<size_t>(total_, 1));
    if (tensor.is_dp_replicated) before_ += tensor.values.size();
    // The same turn on every rank, whatever parts of which tensors it holds.
    const auto tp_owner =
        static_cast<int>(xxh3_64(tensor.name.data(), tensor.name.size()) % static_cast<uint64_t>(tp_.size));
    if (tensor.is_copy || (tensor.is_tp_replicated && tp_owner != tp_.rank)) return false;
    return !tensor.is_dp_replicated || dp_owner == dp_.rank;
  }

 private:
  Seat dp_, tp_;
  size_t total_ = 0, before_ = 0;
};

std::vector<Piece> pieces_of(const std::vector<StoredTensor>& tensors, WriterAssignment assignment,
                             std::deque<std::vector<float>>& packed) {
  std::vector<Piece> pieces;
  for (const StoredTensor& tensor : tensors) {
    if (!assignment.next_is_mine(tensor)) continue;
    std::span<const float> values = tensor.values;
    if (!tensor.is_packed) values = packed.emplace_back(pack(tensor));
    pieces.push_back({tensor.name, DType::kF32, tensor.shape, tensor.cut, std::as_bytes(values)});
  }
  return pieces;
}

int64_t num_bytes(const std::vector<Piece>& pieces) {
  int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += static_cast<int64_t>(piece.bytes.size());
  return bytes;
}

Log* progress_log(const Runtime& runtime) { return runtime.is_first_rank() ? runtime.context.log : nullptr; }

struct GatheredTexts {
  std::vector<std::string> shards;  // descriptions, by rank
  std::string streams;
};

void commit(Runtime& runtime, const Training& training, const Iterators& iterators, const GatheredTexts& texts) {
  std::vector<ShardDescription> shards;
  for (const std::string& text : texts.shards) shards.push_back(ShardDescription::from_json(text));
  commit_checkpoint(runtime.folder.checkpoints(), training.progress.step, shards,
                    run_state_text(runtime, training, iterators.fingerprint, texts.streams));
}

void read_tensor(const CheckpointReader& reader, const StoredTensor& tensor) {
  if (tensor.is_packed) {
    reader.read(tensor.name, tensor.cut, std::as_writable_bytes(tensor.values));
    return;
  }
  std::vector<float> packed(static_cast<size_t>(num_elements(tensor.cut)));
  reader.read(tensor.name, tensor.cut, std::as_writable_bytes(std::span<float>(packed)));
  unpack(packed, tensor);
}

void read_tensors(const Runtime& runtime, const CheckpointReader& reader, const std::vector<StoredTensor>& tensors) {
  ProgressBar bar(progress_log(runtime), "reading the checkpoint", static_cast<int64_t>(tensors.size()));
  for (const StoredTensor& tensor : tensors) {
    read_tensor(reader, tensor);
    bar.advance();
  }
}

}  // namespace

void save_checkpoint(Runtime& runtime, const Training& training, const Iterators& iterators) {
  if (!runtime.folder.exists() || !runtime.config().checkpoint.save) return;
  const Timer timer;
  runtime.comm->trace().set_phase("checkpoint");
  const std::string root = runtime.folder.checkpoints();
  const int64_t step = training.progress.step;
  on_first_rank(runtime, [&] {
    if (runtime.reports) runtime.reports->sync();
    begin_save(root, step);
  });

  const std::vector<StoredTensor> tensors = stored_tensors(training);
  std::deque<std::vector<float>> packed;
  const WriterAssignment assignment(tensors, {runtime.comm->core("dp_cp")->size(), runtime.rank_in("dp_cp")},
                                    {runtime.mesh.sizes().tp, runtime.rank_in("tp")});
  const auto pieces = pieces_of(tensors, assignment, packed);
  ProgressBar bar(progress_log(runtime), "saving the checkpoint", num_bytes(pieces));
  ShardDescription mine;
  on_every_rank(runtime, [&] {
    mine = write_shard(temporary_folder(root, step), runtime.context.rank.rank, pieces,
                       [&](uint64_t bytes) { bar.advance(static_cast<int64_t>(bytes)); });
  });
  const GatheredTexts texts{all_gather_text(runtime.comm->core(), mine.to_json()), gather_streams(runtime, training)};
  on_first_rank(runtime, [&] { commit(runtime, training, iterators, texts); });
  if (runtime.is_first_rank()) {
    runtime.context.log->info("saved checkpoint of step " + std::to_string(step) + " in " +
                              human_duration(timer.seconds()));
  }
}

void load_parameters(Runtime& runtime, const CheckpointReader& reader, Training& training) {
  const std::vector<StoredTensor> tensors = stored_parameters(training);
  const TensorDifference difference = reader.compare(whole_parameters(training));
  if (!difference.missing.empty() || !difference.changed.empty()) {
    throw CheckpointError(reader.folder().string() + " does not hold this model: " + difference.to_string());
  }
  read_tensors(runtime, reader, tensors);
  training.store->weights_changed();
  training.dp->start_gather();
  training.dp->finish_gather();
}

bool load_newest_checkpoint(Runtime& runtime, Training& training) {
  const std::optional<FoundCheckpoint> found = newest_checkpoint(runtime.folder.checkpoints());
  require_equal_on_all_ranks(runtime, "newest checkpoints", found ? found->folder.string() : "none");
  if (!found) {
    if (runtime.is_first_rank()) {
      runtime.context.log->warning("there is no checkpoint in " + runtime.folder.checkpoints() +
                                   " yet: starting at step 0");
    }
    return false;
  }
  if (runtime.is_first_rank()) {
    for (const std::string& note : found->notes) runtime.context.log->warning(note);
  }
  const CheckpointReader reader(found->folder, Verify::kSizes);
  const auto& rank = runtime.context.rank;
  on_every_rank(runtime,
                [&] { reader.verify_checksums(static_cast<size_t>(rank.rank), static_cast<size_t>(rank.world_size)); });
  const RestoredState restored =
      read_run_state(reader.state(), (found->folder / "state.json").string(), runtime, training);
  const std::vector<StoredTensor> tensors = stored_tensors(training);
  reader.require_same(whole_tensors(training));
  read_tensors(runtime, reader, tensors);
  training.progress = restored.progress;
  training.data_fingerprint = restored.data_fingerprint;
  on_every_rank(runtime, [&] { restore_streams(runtime, training, restored.streams); });
  training.store->weights_changed();
  training.dp->start_gather();
  training.dp->finish_gather();
  if (runtime.is_first_rank()) {
    runtime.context.log->info("resuming after step " + std::to_string(restored.progress.step) + " from " +
                              found->folder.string());
  }
  return true;
}

}  // namespace slipway
