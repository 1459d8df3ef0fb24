#include "sink/shared_targets.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>

#include "file/file_descriptor.h"

namespace tracewright {

namespace {

struct Shared {
  std::mutex lock;
  std::map<std::string, std::weak_ptr<SharedTarget>> targets;
  std::map<std::string, std::shared_ptr<SharedTarget>> kept;
  std::map<std::string, std::map<std::string, std::string>> fragments;
  std::map<std::string, std::string> notes;
  std::map<std::string, const void*> claims;
};

Shared& shared() {
  static Shared* const all = new Shared();
  return *all;
}

// `dir/name` becomes `dir/.name.new`: hidden, so that no reader of a format takes it for its own.
std::string beside(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".new";
}

}  // namespace

std::shared_ptr<SharedTarget> join_target(
    const std::string& key, const std::function<std::shared_ptr<SharedTarget>(Failure*)>& make,
    Failure* failure) {
  Shared& all = shared();
  std::lock_guard<std::mutex> lock(all.lock);
  std::weak_ptr<SharedTarget>& known = all.targets[key];
  std::shared_ptr<SharedTarget> target = known.lock();
  // JavaScript may not have freed yet what all have closed.
  if (!target || target->sink->abandoned()) {
    target = make(failure);
    known = target;
    if (!target) {
      all.targets.erase(key);
      return target;
    }
  }
  target->sink->hold();
  return target;
}

void keep_target(const std::string& key) {
  Shared& all = shared();
  std::lock_guard<std::mutex> lock(all.lock);
  const std::shared_ptr<SharedTarget> target = all.targets[key].lock();
  if (!target || target->sink->abandoned()) return;
  if (all.kept.emplace(key, target).second) target->sink->hold();
}

uint32_t SharedTarget::take_number(const uint32_t* wanted) {
  std::lock_guard<std::mutex> lock(numbers_lock_);
  if (wanted != nullptr) {
    numbers_.insert(*wanted);
    return *wanted;
  }
  while (!numbers_.insert(next_number_).second) ++next_number_;
  return next_number_;
}

bool replace_file(const std::string& path, const std::string& content, Failure* failure) {
  const std::string fresh = beside(path);
  // What a process left that died here, or what somebody has planted: a link to a file that is to
  // be overwritten, a FIFO.
  unlink(fresh.c_str());
  FileDescriptor fd(
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) {
    failure->set("create", fresh);
    return false;
  }
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = write(fd.get(), content.data() + done, content.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      failure->set("write", fresh);
      unlink(fresh.c_str());
      return false;
    }
    done += static_cast<size_t>(written);
  }
  if (rename(fresh.c_str(), path.c_str()) != 0) {
    failure->set("rename to", path);
    unlink(fresh.c_str());
    return false;
  }
  return true;
}

bool put_list_entry(const std::string& path, const std::string& key, const std::string& fragment,
                  const std::string& before, const std::string& after, Failure* failure) {
  Shared& all = shared();
  std::lock_guard<std::mutex> lock(all.lock);
  std::map<std::string, std::string>& pieces = all.fragments[path];
  if (!fragment.empty()) pieces[key] = fragment;
  std::string content = before;
  bool first = true;
  for (const auto& [_, piece] : pieces) {
    if (!first) content += ",";
    content += piece;
    first = false;
  }
  return replace_file(path, content + after, failure);
}

void forget_list_entries(const std::string& path) {
  Shared& all = shared();
  std::lock_guard<std::mutex> lock(all.lock);
  all.fragments.erase(path);
}

void put_note(const std::string& name, const std::string& text) {
  Shared& all = shared();
  std::lock_guard<std::mutex> lock(all.lock);
  all.claims.erase(name);
  if (text.empty()) {
    all.notes.erase(name);
  } else {
    all.notes[name] = text;
  }
}

std::string get_note(const std::string& name) {
  Shared& all = shared();
  std::lock_guard<std::mutex> lock(all.lock);
  const auto found = all.notes.find(name);
  return found == all.notes.end() ? std::string() : found->second;
}

bool claim_note(const std::string& name, const void* who) {
  Shared& all = shared();
  std::lock_guard<std::mutex> lock(all.lock);
  return all.notes.count(name) == 0 && all.claims.emplace(name, who).first->second == who;
}

void forgo_notes(const void* who) {
  Shared& all = shared();
  std::lock_guard<std::mutex> lock(all.lock);
  for (auto claim = all.claims.begin(); claim != all.claims.end();) {
    claim = claim->second == who ? all.claims.erase(claim) : std::next(claim);
  }
}

}  // namespace tracewright
