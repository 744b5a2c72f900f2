// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/event_pipe.h"

#include <system_error>

namespace vramtrack {

EventPipe::EventPipe(const Trace& trace, bool ahead) : stream_(trace) {
  stream_.KeepTables();
  if (!ahead) return;
  try {
    thread_ = std::thread(&EventPipe::DecodeAhead, this);
  } catch (const std::system_error&) {
    // Too many threads or too little memory: the reader does it.
  }
}

EventPipe::~EventPipe() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  free_changed_.notify_one();
  thread_.join();
}

void EventPipe::Fill(Batch* batch, size_t most) {
  for (std::unique_ptr<EventStream::BlockTables>& tables : batch->ended) stream_.GiveBack(std::move(tables));
  batch->ended.clear();
  batch->events.resize(most);
  batch->events.resize(stream_.Read(batch->events.data(), most));
  stream_.TakeEnded(&batch->ended);
}

void EventPipe::DecodeAhead() {
  for (size_t at = 0;; at = (at + 1) % kBatches) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      free_changed_.wait(lock, [this] { return stopped_ || filled_ < kBatches; });
      if (stopped_) return;
    }
    Fill(&batches_[at], kAheadEvents);
    const bool last = batches_[at].events.empty();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++filled_;
    }
    filled_changed_.notify_one();
    if (last) return;
  }
}

const std::vector<StreamEvent>& EventPipe::Next() {
  if (!thread_.joinable()) {
    Fill(&batches_[0], kEvents);
    return batches_[0].events;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  if (has_batch_) {
    if (batches_[reading_].events.empty()) return batches_[reading_].events;
    reading_ = (reading_ + 1) % kBatches;
    --filled_;
    free_changed_.notify_one();
  }
  filled_changed_.wait(lock, [this] { return filled_ > 0; });
  has_batch_ = true;
  return batches_[reading_].events;
}

}  // namespace vramtrack
