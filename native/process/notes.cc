#include "process/notes.h"

#include <iterator>
#include <map>
#include <mutex>

namespace tracewright {

namespace {

struct Notes {
  std::mutex lock;
  std::map<std::string, std::string> texts;
  std::map<std::string, const void*> claims;
};

Notes& notes() {
  // Never destroyed: threads may outlive every static.
  static Notes* const all = new Notes();
  return *all;
}

}  // namespace

void put_note(const std::string& name, const std::string& text) {
  Notes& all = notes();
  std::lock_guard<std::mutex> lock(all.lock);
  all.claims.erase(name);
  if (text.empty()) {
    all.texts.erase(name);
  } else {
    all.texts[name] = text;
  }
}

std::string get_note(const std::string& name) {
  Notes& all = notes();
  std::lock_guard<std::mutex> lock(all.lock);
  const auto found = all.texts.find(name);
  return found == all.texts.end() ? std::string() : found->second;
}

bool claim_note(const std::string& name, const void* thread) {
  Notes& all = notes();
  std::lock_guard<std::mutex> lock(all.lock);
  return all.texts.count(name) == 0 && all.claims.emplace(name, thread).first->second == thread;
}

void release_claims(const void* thread) {
  Notes& all = notes();
  std::lock_guard<std::mutex> lock(all.lock);
  for (auto claim = all.claims.begin(); claim != all.claims.end();) {
    claim = claim->second == thread ? all.claims.erase(claim) : std::next(claim);
  }
}

}  // namespace tracewright
