// Laplace's raw-reference-binary-to-text as a C++ loop that does nothing else: read(2) a piece,
// format its little-endian records by hand, write(2) the lines; and the same the other way.
#include "laplace_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tracewright {

namespace {

constexpr size_t kRecordBytes = 18;
constexpr size_t kLongestLine = 40;
constexpr size_t kShortestLine = 10;
constexpr size_t kPieceRecords = 1 << 15;
constexpr size_t kPieceText = 1 << 20;

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }

  size_t read(uint8_t* into, size_t bytes) {
    const ssize_t got = ::read(fd_, into, bytes);
    return got > 0 ? static_cast<size_t>(got) : 0;
  }

  bool write(const uint8_t* from, size_t bytes) {
    while (bytes > 0) {
      const ssize_t put = ::write(fd_, from, bytes);
      if (put <= 0) return false;
      from += put;
      bytes -= static_cast<size_t>(put);
    }
    return true;
  }

 private:
  int fd_;
};

template <typename T>
inline T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
inline uint8_t* store(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

inline uint8_t* put_hex(uint8_t* at, uint64_t value) {
  const int digits = (67 - __builtin_clzll(value | 1)) / 4;
  for (int i = digits - 1; i >= 0; --i) {
    at[i] = static_cast<uint8_t>("0123456789abcdef"[value & 15]);
    value >>= 4;
  }
  return at + digits;
}

double to_text(File& from, File& to) {
  std::vector<uint8_t> records(kPieceRecords * kRecordBytes);
  std::vector<uint8_t> text(kPieceRecords * kLongestLine);
  double bytes = 0;
  size_t held = 0;
  while (const size_t got = from.read(records.data() + held, records.size() - held)) {
    held += got;
    const size_t whole = held - held % kRecordBytes;
    uint8_t* out = text.data();
    for (const uint8_t* at = records.data(); at < records.data() + whole; at += kRecordBytes) {
      *out++ = *at;
      *out++ = ' ';
      out = put_hex(out, load<uint64_t>(at + 1));
      *out++ = ' ';
      out = put_hex(out, at[9]);
      *out++ = ' ';
      out = put_hex(out, load<uint32_t>(at + 10));
      *out++ = ' ';
      out = put_hex(out, load<uint32_t>(at + 14));
      *out++ = '\n';
    }
    const size_t length = static_cast<size_t>(out - text.data());
    if (!to.write(text.data(), length)) return -1;
    bytes += static_cast<double>(length);
    held -= whole;
    std::memmove(records.data(), records.data() + whole, held);
  }
  return bytes;
}

std::array<uint8_t, 256> digit_values() {
  std::array<uint8_t, 256> values;
  values.fill(0xff);
  for (uint8_t i = 0; i < 16; ++i) {
    values[static_cast<uint8_t>("0123456789abcdef"[i])] = i;
    values[static_cast<uint8_t>("0123456789ABCDEF"[i])] = i;
  }
  return values;
}

// Reads digits and the one character after them; more than `most` digits, or none, are a fault.
inline const uint8_t* take_hex(const std::array<uint8_t, 256>& values, const uint8_t* at, int most,
                               uint8_t end, uint64_t* value) {
  const uint8_t* const first = at;
  uint64_t sum = 0;
  for (uint8_t digit; (digit = values[*at]) < 16; ++at) sum = sum << 4 | digit;
  *value = sum;
  return at == first || at - first > most || *at != end ? nullptr : at + 1;
}

double to_binary(File& from, File& to) {
  const std::array<uint8_t, 256> values = digit_values();
  std::vector<uint8_t> text(kPieceText);
  std::vector<uint8_t> records((kPieceText / kShortestLine + 1) * kRecordBytes);
  double bytes = 0;
  size_t held = 0;
  while (const size_t got = from.read(text.data() + held, text.size() - held)) {
    held += got;
    size_t whole = held;
    while (whole > 0 && text[whole - 1] != '\n') --whole;
    uint8_t* out = records.data();
    for (const uint8_t* at = text.data(); at < text.data() + whole;) {
      const uint8_t type = at[0];
      if (type <= ' ' || type > '~' || at[1] != ' ') return -1;
      uint64_t timestamp;
      uint64_t length;
      uint64_t space;
      uint64_t address;
      if (!(at = take_hex(values, at + 2, 16, ' ', &timestamp))) return -1;
      if (!(at = take_hex(values, at, 2, ' ', &length))) return -1;
      if (!(at = take_hex(values, at, 8, ' ', &space))) return -1;
      if (!(at = take_hex(values, at, 8, '\n', &address))) return -1;
      out = store(out, type);
      out = store(out, timestamp);
      out = store(out, static_cast<uint8_t>(length));
      out = store(out, static_cast<uint32_t>(space));
      out = store(out, static_cast<uint32_t>(address));
    }
    const size_t size = static_cast<size_t>(out - records.data());
    if (!to.write(records.data(), size)) return -1;
    bytes += static_cast<double>(size);
    held -= whole;
    std::memmove(text.data(), text.data() + whole, held);
  }
  return bytes;
}

// laplaceToText(from, to), laplaceToBinary(from, to): bytes written, or -1.
template <double convert(File&, File&)>
Napi::Value converted(const Napi::CallbackInfo& info) {
  File from(info[0].As<Napi::String>().Utf8Value(), O_RDONLY);
  File to(info[1].As<Napi::String>().Utf8Value(), O_WRONLY | O_CREAT | O_TRUNC);
  const double bytes = from.is_open() && to.is_open() ? convert(from, to) : -1;
  return Napi::Number::New(info.Env(), bytes);
}

}  // namespace

void add_laplace_text(Napi::Env env, Napi::Object exports) {
  exports["laplaceToText"] = Napi::Function::New(env, converted<to_text>, "laplaceToText");
  exports["laplaceToBinary"] = Napi::Function::New(env, converted<to_binary>, "laplaceToBinary");
}

}  // namespace tracewright
