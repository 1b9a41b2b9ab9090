#include "core/pretrain/checkpoint_io.h"
#include "core/pretrain/pretrain.h"

namespace slipway {

void finalize(std::unique_ptr<Runtime> runtime, std::unique_ptr<Training> training,
              std::unique_ptr<Iterators> iterators, const Summary& summary) {
  const int64_t interval = runtime->config().checkpoint.save_interval;
  const bool is_saved = summary.step == 0 || (interval > 0 && summary.step % interval == 0);
  if (!is_saved) save_checkpoint(*runtime, *training, *iterators);
  if (runtime->is_first_rank()) {
    const std::string where = runtime->folder.exists() ? "; results in " + runtime->folder.root : "";
    runtime->context.log->info("done: " + std::to_string(summary.step) + " steps" + where);
  }
  // All work of all ranks is over before anybody leaves a group.
  runtime->comm->core().barrier();
  iterators.reset();
  training.reset();
  runtime.reset();
}

}  // namespace slipway
