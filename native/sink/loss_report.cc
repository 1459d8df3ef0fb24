#include "sink/loss_report.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "sink/target_group.h"

namespace tracewright {

namespace {

struct LeftToProgram {
  std::mutex lock;
  std::set<std::string> groups;
};

LeftToProgram& left_to_program() {
  // Never destroyed: threads may outlive every static.
  static LeftToProgram* const all = new LeftToProgram();
  return *all;
}

std::string events(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " event" : " events");
}

std::string bytes(uint64_t count) {
  return std::to_string(count) + " bytes of events";
}

// The group of a file or a unix socket is its path, after a scheme.
std::string target_of(const std::string& group) {
  for (const char* const scheme : {"file:", "unix:"}) {
    if (group.compare(0, std::strlen(scheme), scheme) == 0) {
      return group.substr(std::strlen(scheme));
    }
  }
  return group;
}

std::string line_of(const std::string& group, const TargetGroup::Counts& counts) {
  std::string lost;
  if (counts.missing_records() > 0) lost = events(counts.missing_records());
  if (counts.gone_bytes > 0) lost += (lost.empty() ? "" : " and ") + bytes(counts.gone_bytes);
  const uint64_t left = counts.left_bytes - counts.gone_left_bytes;
  std::string line = "tracewright: the trace " + target_of(group) + " lacks ";
  if (!lost.empty()) line += lost + ", which are lost";
  if (left > 0) {
    line += (lost.empty() ? "" : ", and ") + bytes(left) +
            ", which are in its rings; tracewright recover completes it";
  }
  return line + "\n";
}

bool is_quiet() {
  const char* const quiet = std::getenv("TRACEWRIGHT_QUIET");
  return quiet != nullptr && std::strcmp(quiet, "1") == 0;
}

}  // namespace

void LossReport::leave_to_program(const std::string& group) {
  LeftToProgram& left = left_to_program();
  std::lock_guard<std::mutex> lock(left.lock);
  left.groups.insert(group);
}

void LossReport::write() {
  static std::atomic<bool> written{false};
  if (written.exchange(true) || is_quiet()) return;
  const auto counts_of_groups = TargetGroup::counts_of_all();
  LeftToProgram& left = left_to_program();
  std::lock_guard<std::mutex> lock(left.lock);
  for (const auto& [group, counts] : counts_of_groups) {
    if (left.groups.count(group) > 0 || !counts.lack_events()) continue;
    const std::string line = line_of(group, counts);
    // Standard error may be closed.
    const ssize_t done = ::write(STDERR_FILENO, line.data(), line.size());
    (void)done;
  }
}

}  // namespace tracewright
