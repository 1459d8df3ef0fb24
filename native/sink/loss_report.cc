#include "sink/loss_report.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace tracewright {

namespace {

struct Losses {
  std::mutex lock;
  std::map<std::string, TargetGroup::Counts> of_groups;
  std::set<std::string> left_to_program;
};

Losses& losses() {
  // Never destroyed: groups may outlive every static.
  static Losses* const all = new Losses();
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

// Empty where nothing is lost.
std::string line_of(const std::string& group, const TargetGroup::Counts& counts) {
  std::string lost;
  if (counts.missing_records() > 0) lost = events(counts.missing_records());
  if (counts.gone_bytes > 0) lost += (lost.empty() ? "" : " and ") + bytes(counts.gone_bytes);
  const uint64_t left = counts.left_bytes - counts.gone_left_bytes;
  if (lost.empty() && left == 0) return lost;
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

void LossReport::keep(const std::string& group, const TargetGroup::Counts& counts) {
  Losses& all = losses();
  std::lock_guard<std::mutex> lock(all.lock);
  // Most lose nothing, and a process can have any number of traces in its life.
  if (line_of(group, counts).empty()) return;
  all.of_groups[group].add(counts);
}

void LossReport::leave_to_program(const std::string& group) {
  Losses& all = losses();
  std::lock_guard<std::mutex> lock(all.lock);
  all.left_to_program.insert(group);
}

void LossReport::write() {
  static std::atomic<bool> written{false};
  if (written.exchange(true) || is_quiet()) return;
  Losses& all = losses();
  const auto present = TargetGroup::counts_of_all();
  std::lock_guard<std::mutex> lock(all.lock);
  for (const auto& [group, counts] : present) all.of_groups[group].add(counts);
  for (const auto& [group, counts] : all.of_groups) {
    if (all.left_to_program.count(group) > 0) continue;
    const std::string line = line_of(group, counts);
    // Standard error may be closed.
    const ssize_t done = line.empty() ? 0 : ::write(STDERR_FILENO, line.data(), line.size());
    (void)done;
  }
}

}  // namespace tracewright
