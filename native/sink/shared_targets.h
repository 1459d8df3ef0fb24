// What the threads of a process have in common: the sinks that several rings feed, and the pieces
// that several threads contribute to one file. Threads of Node share no JavaScript, so it is here.
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
  uint64_t epoch = 0;       // ns of CLOCK_MONOTONIC
  uint64_t epoch_unix = 0;  // the same moment, ns since 1970

  // Takes the number `wanted`, or the next one from 1 that was never taken.
  uint32_t take_number(const uint32_t* wanted);

 private:
  std::mutex numbers_lock_;
  std::set<uint32_t> numbers_;
  uint32_t next_number_ = 1;
};

// The target `key`, made by `make` when no thread has it open, and its sink held once more.
std::shared_ptr<SharedTarget> join_target(
    const std::string& key, const std::function<std::shared_ptr<SharedTarget>(Failure*)>& make,
    Failure* failure);

// Keeps the target `key` open, whoever lets go of it, as long as the process lives.
void keep_target(const std::string& key);

// Puts a piece of text under `key` and rewrites `path` (by a rename, so that it is always whole)
// as `before`, the pieces in the order of their keys separated by commas, and `after`. One call,
// because a thread can be terminated between two.
bool put_list_entry(const std::string& path, const std::string& key, const std::string& fragment,
                  const std::string& before, const std::string& after, Failure* failure);
// Forgets the pieces of `path`.
void forget_list_entries(const std::string& path);

// A note of one thread for the others, by name; an empty text removes it.
void put_note(const std::string& name, const std::string& text);
std::string get_note(const std::string& name);
// Whether `who` is to put a note that nobody has put: until then, or until it forgoes, no other is.
bool claim_note(const std::string& name, const void* who);
void forgo_notes(const void* who);

// Writes a file so that readers see either the old or the new content.
bool replace_file(const std::string& path, const std::string& content, Failure* failure);

}  // namespace tracewright
