#include "core/comm/communicator.h"

#include <algorithm>
#include <cstring>

#include "core/comm/cuda_library.h"
#include "core/comm/rendezvous.h"
#include "core/comm/watchdog.h"

namespace slipway {
namespace {

// dp_cp comes first, because the first group gets what there is only once, such as SHARP (reference 1.1.3); then those
// whose names say most, as a group that serves several names bears the first.
std::vector<std::string> creation_order(const Mesh& mesh) {
  std::vector<std::string> order{"dp_cp", "dp", "tp", "pp", "cp", "ep", "etp", "edp"};
  for (const auto& [name, groups] : mesh.all_groups()) {
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
  }
  return order;
}

// For transports to notice a timeout by themselves.
constexpr std::chrono::seconds kPatience{2};

}  // namespace

Communicator::Communicator(const RankEnvironment& environment, const Mesh& mesh, std::chrono::milliseconds timeout,
                           const DeviceChoice& choice, CommWatch watch)
    : watch_(std::move(watch)) {
  if (watch_.trace == nullptr) watch_.trace = std::make_shared<CollectiveTrace>();
  if (environment.world_size > 1 || choice.cuda != nullptr) store_ = make_store(environment, timeout);
  const auto add = [&](std::unique_ptr<Group> group) {
    if (group->size() > 1) group = make_traced_group(std::move(group), watch_);
    return groups_.emplace_back(std::move(group)).get();
  };
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

  using Partition = std::vector<RankList>;
  // One group for all names with the same partition, so that no connection is made twice.
  const auto share = [&](std::map<Partition, Group*>& known, const std::string& name, auto&& make_group) -> Group* {
    const RankList mine = mesh.group_of(name, environment.rank);
    if (mine.empty()) return nullptr;
    Group*& shared = known[mesh.groups(name)];
    if (shared == nullptr) shared = make_group(mine);
    return shared;
  };
  // Tensors and single numbers of the core go different ways, so that neither waits behind the other.
  std::map<Partition, Group*> of_tensors, of_numbers{{{world}, core_}}, of_plugins;
  for (const std::string name : {"pp", "embd", "tp", "tp_pp", "dp_cp"}) {
    const bool is_number = name == "tp_pp" || name == "dp_cp";
    Group* group = share(is_number ? of_numbers : of_tensors, name,
                         [&](const RankList& ranks) { return make_host("core." + name, ranks); });
    if (group != nullptr) core_by_name_[name] = group;
  }
  for (const std::string& name : creation_order(mesh)) {
    // Without context parallelism both are the same ranks, and everybody calls them dp.
    const std::string label = name == "dp_cp" && mesh.sizes().cp == 1 ? "dp" : name;
    Group* group = share(of_plugins, name, [&](const RankList& ranks) { return make(label, ranks); });
    if (group != nullptr) by_name_[name] = group;
  }
  const bool is_watched = environment.world_size > 1 && watch_.on_failure;
  if (is_watched) watchdog_ = std::make_unique<Watchdog>(watch_, timeout + kPatience);
}

Group* Communicator::core(const std::string& name) const {
  const auto found = core_by_name_.find(name);
  return found == core_by_name_.end() ? nullptr : found->second;
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

void broadcast(Group& group, std::vector<double>& values, int root) {
  if (values.empty()) return;
  View view(values.data(), static_cast<int64_t>(values.size()), {SLW_CODE_FLOAT, 64, 1});
  group.broadcast(view.tensor, root)->wait();
}

void broadcast(Group& group, std::span<float> values, int root) {
  if (values.empty()) return;
  View view(values.data(), static_cast<int64_t>(values.size()), {SLW_CODE_FLOAT, 32, 1});
  group.broadcast(view.tensor, root)->wait();
}

void all_reduce(Group& group, std::span<float> values, int op) {
  if (values.empty()) return;
  View view(values.data(), static_cast<int64_t>(values.size()), {SLW_CODE_FLOAT, 32, 1});
  group.all_reduce(view.tensor, op)->wait();
}

}  // namespace slipway
