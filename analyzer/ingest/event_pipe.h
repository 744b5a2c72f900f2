// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_EVENT_PIPE_H_
#define ANALYZER_INGEST_EVENT_PIPE_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "analyzer/ingest/event_stream.h"

namespace vramtrack {

// The events of an EventStream, in its order, a batch at a time; decoded by a thread of its own, a few batches ahead of
// the reader, if asked for. What is delivered does not depend on that. Memory is bounded by the batches. Next() is for
// one thread.
class EventPipe {
 public:
  // Where no thread can be started the reader decodes.
  EventPipe(const Trace& trace, bool ahead);
  ~EventPipe();
  EventPipe(const EventPipe&) = delete;
  EventPipe& operator=(const EventPipe&) = delete;

  // Empty after the last event. The events and what they point to are valid until the next call.
  const std::vector<StreamEvent>& Next();

  // To be asked after the last event.
  uint64_t unreadable_events() const { return stream_.unreadable_events(); }

 private:
  static constexpr size_t kBatches = 4, kAheadEvents = 2048, kEvents = 256;

  struct Batch {
    std::vector<StreamEvent> events;
    // Tables of blocks that end in this batch: it may be the last one to point to them.
    std::vector<std::unique_ptr<EventStream::BlockTables>> ended;
  };

  void Fill(Batch* batch, size_t most);
  void DecodeAhead();

  EventStream stream_;
  std::array<Batch, kBatches> batches_;
  size_t reading_ = 0;  // the batch that the reader has, if it has one
  bool has_batch_ = false;

  std::mutex mutex_;
  std::condition_variable filled_changed_, free_changed_;
  size_t filled_ = 0;     // batches that wait for the reader, or that it has; guarded by mutex_
  bool stopped_ = false;  // the same
  std::thread thread_;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_EVENT_PIPE_H_
