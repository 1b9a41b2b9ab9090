#include "core/parallel/transport.h"

#include <algorithm>

#include "core/base/error.h"

namespace slipway {

void Transport::put(TransferWhat what, int32_t chunk, int32_t microbatch, Activations made) {
  made_[{what, chunk, microbatch}] = std::move(made);
}

Activations Transport::take(TransferWhat what, int32_t chunk, int32_t microbatch) {
  const auto found = arriving_.find({what, chunk, microbatch});
  SLW_CHECK(found != arriving_.end());
  Moving moving = std::move(found->second);
  arriving_.erase(found);
  wait(moving);
  return std::move(moving.data);
}

void Transport::begin() {
  free_sent();
  batch_receives_.clear();
  batch_sends_ = 0;
  pipeline_.coalesce_begin();
}

void Transport::send(const Transfer& transfer) {
  auto made = made_.extract(key_of(transfer));
  SLW_CHECK(!made.empty());
  Moving& moving = leaving_.emplace_back();
  moving.data = std::move(made.mapped());
  ++batch_sends_;
  for (const slw_tensor& tensor : moving.data.tensors()) moving.works.push_back(pipeline_.send(tensor, transfer.peer));
}

void Transport::receive(const Transfer& transfer, Activations into) {
  Moving& moving = arriving_[key_of(transfer)];
  moving.data = std::move(into);
  batch_receives_.push_back(key_of(transfer));
  for (const slw_tensor& tensor : moving.data.tensors()) moving.works.push_back(pipeline_.recv(tensor, transfer.peer));
}

void Transport::end() {
  const std::shared_ptr<Work> batch = pipeline_.coalesce_end();
  for (const Key& key : batch_receives_) arriving_.at(key).batch = batch;
  for (size_t i = leaving_.size() - batch_sends_; i < leaving_.size(); ++i) leaving_[i].batch = batch;
}

void Transport::finish() {
  for (Moving& moving : leaving_) wait(moving);
  leaving_.clear();
}

void Transport::wait(Moving& moving) {
  for (const WorkPtr& work : moving.works) work->wait_on(nullptr);
  moving.batch->wait_on(nullptr);
}

void Transport::free_sent() {
  std::erase_if(leaving_, [](Moving& moving) {
    const bool done = moving.batch->is_done() &&
                      std::all_of(moving.works.begin(), moving.works.end(), [](const auto& w) { return w->is_done(); });
    if (done) wait(moving);  // tells of a failure
    return done;
  });
}

}  // namespace slipway
