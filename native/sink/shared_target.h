// Targets that several rings feed. Threads of Node share no JavaScript, so their targets meet here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "file/failure.h"
#include "sink/sink.h"

namespace tracewright {

// A target that any thread of the process may join.
struct SharedTarget {
  std::shared_ptr<Sink> sink;
  uint64_t epoch = 0;  // ns of CLOCK_MONOTONIC

  // Takes the number `wanted`, or the next one from 1 that was never taken.
  uint32_t take_number(const uint32_t* wanted);

 private:
  std::mutex numbers_lock_;
  std::set<uint32_t> numbers_;
  uint32_t next_number_ = 1;
};

// The target `key`, made by `make` if no thread has it open. Its sink gets one more holder.
std::shared_ptr<SharedTarget> join_target(
    const std::string& key, const std::function<std::shared_ptr<SharedTarget>(Failure*)>& make,
    Failure* failure);

// Keeps the target `key` open until the process ends, whichever thread closes it.
void keep_target(const std::string& key);

}  // namespace tracewright
