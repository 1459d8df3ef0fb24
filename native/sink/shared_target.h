// Targets that several rings feed. Threads of Node share no JavaScript, so their targets meet here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  int64_t take_number(const uint32_t* wanted);

  // The number of a definition, which every thread finds by its key; 0 when there are too many.
  uint32_t define(const std::string& key);
  // Adds the packet of a definition to what every later file, piece and connection begins with. The
  // second packet of the same number changes nothing. False when there is no more room for it.
  bool repeat_definition(uint32_t number, const std::string& packet);

 private:
  static constexpr size_t kMostDefinitions = 1000;
  static constexpr size_t kMostDefinitionBytes = 32 << 10;

  std::mutex definitions_lock_;
  std::map<std::string, uint32_t> definitions_;
  std::set<uint32_t> repeated_;
  size_t repeated_bytes_ = 0;
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
