#include "addon/profile_text.h"

#include <cinttypes>
#include <cstdio>

namespace tracewright {

namespace {

constexpr uint64_t kUs = 1000;
// What one sample adds at most, but for its frames.
constexpr size_t kRoom = 4096;

void separate(std::string& text, char separator) {
  if (!text.empty()) text += separator;
}

napi_value number(napi_env env, uint64_t value) {
  napi_value made = nullptr;
  napi_create_double(env, static_cast<double>(value), &made);
  return made;
}

napi_value text_of(napi_env env, const std::string& text) {
  napi_value made = nullptr;
  napi_create_string_utf8(env, text.data(), text.size(), &made);
  return made;
}

}  // namespace

bool ProfileText::is_full() const {
  return frames_.size() + nodes_.size() + samples_.size() + spans_.size() + lines_.size() + kRoom >
         kMostBytes;
}

size_t ProfileText::frame(const std::string& text) {
  const auto [at, is_new] = frame_numbers_.emplace(text, frame_numbers_.size());
  if (is_new) {
    separate(frames_, '\n');
    frames_ += text;
  }
  return at->second;
}

size_t ProfileText::known(const void* key) const {
  const auto at = node_numbers_.find(key);
  return at == node_numbers_.end() ? kNone : at->second;
}

size_t ProfileText::node(const void* key, size_t frame, size_t parent) {
  const auto [at, is_new] = node_numbers_.emplace(key, node_numbers_.size());
  if (is_new) {
    separate(nodes_, ',');
    nodes_ += std::to_string(frame) + ':';
    if (parent != kNone) nodes_ += std::to_string(parent);
  }
  return at->second;
}

void ProfileText::sample(uint64_t at, size_t node, int32_t high, int32_t low) {
  if (samples_.empty()) from_ = at;
  to_ = at;
  separate(samples_, ',');
  samples_ += std::to_string((at - from_) / kUs) + ':' + std::to_string(node);
  if ((high | low) == 0) return;
  const uint64_t id =
      static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low);
  const auto [span, is_new] = span_numbers_.emplace(id, span_numbers_.size());
  if (is_new) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016" PRIx64, id);
    separate(spans_, ',');
    spans_ += digits;
  }
  samples_ += ':' + std::to_string(span->second);
}

void ProfileText::size(size_t node, size_t bytes, unsigned count) {
  separate(samples_, ',');
  samples_ += std::to_string(node) + ':' + std::to_string(bytes) + ':' + std::to_string(count);
}

void ProfileText::line(size_t node, int number, unsigned count) {
  separate(lines_, ',');
  lines_ += std::to_string(node) + ':' + std::to_string(number) + ':' + std::to_string(count);
}

void ProfileText::add_to(napi_env env, napi_value list, uint32_t& length) {
  for (const napi_value value :
       {number(env, from_), number(env, to_), text_of(env, frames_), text_of(env, nodes_),
        text_of(env, samples_), text_of(env, spans_), text_of(env, lines_)}) {
    napi_set_element(env, list, length++, value);
  }
  *this = ProfileText();
}

}  // namespace tracewright
