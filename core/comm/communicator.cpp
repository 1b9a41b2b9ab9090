#include "core/comm/communicator.h"

#include <algorithm>
#include <cstring>

#include "core/comm/cuda_library.h"
#include "core/comm/rendezvous.h"

namespace slipway {

Communicator::Communicator(const RankEnvironment& environment, const Mesh& mesh, std::chrono::milliseconds timeout,
                           const DeviceChoice& choice) {
  if (environment.world_size > 1 || choice.cuda != nullptr) store_ = make_store(environment, timeout);
  const auto add = [&](std::unique_ptr<Group> group) { return groups_.emplace_back(std::move(group)).get(); };
  const auto make_host = [&](const std::string& name, const RankList& ranks) {
    if (ranks.size() == 1) return add(make_local_group(name, environment.rank));
    return add(make_gloo_group(*store_, environment, {name, ranks, environment.rank, timeout}));
  };
  const auto make = [&](const std::string& name, const RankList& ranks) {
    if (choice.cuda == nullptr) return make_host(name, ranks);
    return add(choice.cuda->make_nccl_group(*store_, {name, ranks, environment.rank, timeout}, choice.device));
  };
  RankList world(static_cast<size_t>(environment.world_size));
  for (size_t i = 0; i < world.size(); ++i) world[i] = static_cast<int>(i);
  core_ = make_host("core", world);

  std::map<std::vector<RankList>, Group*> by_partition;
  for (const auto& [name, partition] : mesh.all_groups()) {
    const RankList mine = mesh.group_of(name, environment.rank);
    if (mine.empty()) continue;
    Group*& shared = by_partition[partition];
    if (shared == nullptr) shared = make(name, mine);
    by_name_[name] = shared;
  }
}

Communicator::~Communicator() = default;

Group* Communicator::group(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

namespace {

struct View {  // a 1-D slw_tensor with its shape
  int64_t shape, stride = 1;
  slw_tensor tensor;

  View(void* data, int64_t n, slw_dtype dtype)
      : shape(n), tensor{data, {SLW_DEVICE_CPU, 0}, 1, dtype, &shape, &stride, 0} {}
  View(const View&) = delete;
};

}  // namespace

std::vector<std::string> all_gather_text(Group& group, const std::string& text) {
  const auto size = static_cast<size_t>(group.size());
  std::vector<int64_t> lengths(size);
  auto length = static_cast<int64_t>(text.size());
  View mine(&length, 1, {SLW_CODE_INT, 64, 1}), all(lengths.data(), group.size(), {SLW_CODE_INT, 64, 1});
  group.all_gather(mine.tensor, all.tensor)->wait();

  const int64_t longest = std::max<int64_t>(1, *std::max_element(lengths.begin(), lengths.end()));
  std::string padded = text, gathered(static_cast<size_t>(longest) * size, '\0');
  padded.resize(static_cast<size_t>(longest));
  View in(padded.data(), longest, {SLW_CODE_UINT, 8, 1});
  View out(gathered.data(), longest * group.size(), {SLW_CODE_UINT, 8, 1});
  group.all_gather(in.tensor, out.tensor)->wait();

  std::vector<std::string> texts;
  for (size_t r = 0; r < size; ++r) {
    texts.push_back(gathered.substr(r * static_cast<size_t>(longest), static_cast<size_t>(lengths[r])));
  }
  return texts;
}

void all_reduce(Group& group, std::vector<double>& values, int op) {
  if (values.empty()) return;
  View view(values.data(), static_cast<int64_t>(values.size()), {SLW_CODE_FLOAT, 64, 1});
  group.all_reduce(view.tensor, op)->wait();
}

}  // namespace slipway
