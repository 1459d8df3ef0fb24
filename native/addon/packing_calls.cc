#include "addon/calls.h"
#include "ring/record_packing.h"

namespace tracewright {

namespace {

// An array as it is, whatever its JavaScript object pretends: none for what is not an array.
struct Array {
  uint8_t* bytes = nullptr;
  size_t length = 0;
  napi_typedarray_type type = napi_int8_array;
};

Array array_of(napi_env env, napi_value value) {
  Array array;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, value, &array.type, &array.length, &data, nullptr, nullptr) !=
      napi_ok) {
    return Array();
  }
  array.bytes = static_cast<uint8_t*>(data);
  // A detached one.
  if (data == nullptr) array.length = 0;
  return array;
}

Array bytes_of(napi_env env, napi_value value) {
  const Array array = array_of(env, value);
  return array.type == napi_uint8_array ? array : Array();
}

size_t size_of(napi_env env, napi_value value) {
  double number = 0;
  napi_get_value_double(env, value, &number);
  return number >= 0 && number <= 9007199254740991.0 ? static_cast<size_t>(number) : 0;
}

bool kind_of(napi_typedarray_type type, ValueKind* kind) {
  switch (type) {
    case napi_uint8_array:
      *kind = ValueKind::u8;
      return true;
    case napi_uint16_array:
      *kind = ValueKind::u16;
      return true;
    case napi_uint32_array:
      *kind = ValueKind::u32;
      return true;
    case napi_biguint64_array:
      *kind = ValueKind::u64;
      return true;
    case napi_float64_array:
      *kind = ValueKind::f64;
      return true;
    default:
      return false;
  }
}

napi_value number(napi_env env, size_t value) {
  napi_value result = nullptr;
  napi_create_double(env, static_cast<double>(value), &result);
  return result;
}

napi_value boolean(napi_env env, bool value) {
  napi_value result = nullptr;
  napi_get_boolean(env, value, &result);
  return result;
}

// Record bytes, whether big-endian, and offset and bytes of each field.
bool read_layout(const Array& described, RecordLayout* layout) {
  if (described.length < 2 || described.length % 2 != 0) return false;
  layout->record_bytes = described.bytes[0];
  layout->big_endian = described.bytes[1] != 0;
  layout->fields = described.length / 2 - 1;
  if (layout->fields > RecordLayout::kMostFields) return false;
  for (size_t i = 0; i < layout->fields; ++i) {
    Field& field = layout->field[i];
    field.offset = described.bytes[2 + 2 * i];
    field.bytes = described.bytes[3 + 2 * i];
    if (field.offset + field.bytes > layout->record_bytes) return false;
  }
  return layout->record_bytes > 0;
}

// Whether `count` values of `size` bytes fit from `at` on.
bool fits(const Array& array, size_t at, size_t count, size_t size) {
  return at <= array.length && count <= (array.length - at) / size;
}

// packRecords(layout, to, at, first, count, ...columns): false, and nothing written, when they do
// not go together.
napi_value pack_records_call(napi_env env, napi_callback_info info) {
  constexpr size_t kFixed = 5;
  napi_value arguments[kFixed + RecordLayout::kMostFields];
  size_t given = kFixed + RecordLayout::kMostFields;
  napi_get_cb_info(env, info, &given, arguments, nullptr, nullptr);
  RecordLayout layout;
  if (given < kFixed || !read_layout(bytes_of(env, arguments[0]), &layout) ||
      given != kFixed + layout.fields) {
    return boolean(env, false);
  }
  const Array to = bytes_of(env, arguments[1]);
  const size_t at = size_of(env, arguments[2]);
  const size_t first = size_of(env, arguments[3]);
  const size_t count = size_of(env, arguments[4]);
  if (!fits(to, at, count, layout.record_bytes)) return boolean(env, false);
  Column columns[RecordLayout::kMostFields];
  for (size_t i = 0; i < layout.fields; ++i) {
    const Array values = array_of(env, arguments[kFixed + i]);
    Column& column = columns[i];
    column.values = values.bytes;
    column.one_for_all = values.length == 1;
    if (!kind_of(values.type, &column.kind) || !takes(layout.field[i], column.kind) ||
        (!column.one_for_all && !fits(values, first, count, 1))) {
      return boolean(env, false);
    }
  }
  pack_records(to.bytes + at, layout, columns, first, count);
  return boolean(env, true);
}

// copyRecords(to, at, from, start, recordBytes, count, low, high): 0 when they are not there.
napi_value copy_records_call(napi_env env, napi_callback_info info) {
  napi_value arguments[8];
  size_t given = 8;
  napi_get_cb_info(env, info, &given, arguments, nullptr, nullptr);
  const Array to = bytes_of(env, arguments[0]);
  const size_t at = size_of(env, arguments[1]);
  const Array from = bytes_of(env, arguments[2]);
  const size_t start = size_of(env, arguments[3]);
  const size_t record_bytes = size_of(env, arguments[4]);
  const size_t count = size_of(env, arguments[5]);
  if (record_bytes == 0 || !fits(to, at, count, record_bytes) ||
      !fits(from, start, count, record_bytes)) {
    return number(env, 0);
  }
  return number(env, copy_records(to.bytes + at, from.bytes + start, record_bytes, count,
                                  static_cast<uint8_t>(size_of(env, arguments[6])),
                                  static_cast<uint8_t>(size_of(env, arguments[7]))));
}

// firstOutside(bytes, from, stride, count, low, high): 0 when the bytes are not there.
napi_value first_outside_call(napi_env env, napi_callback_info info) {
  napi_value arguments[6];
  size_t given = 6;
  napi_get_cb_info(env, info, &given, arguments, nullptr, nullptr);
  const Array array = bytes_of(env, arguments[0]);
  const size_t from = size_of(env, arguments[1]);
  const size_t stride = size_of(env, arguments[2]);
  const size_t count = size_of(env, arguments[3]);
  if (stride == 0 || !fits(array, from, count, stride)) return number(env, 0);
  return number(env, first_outside(array.bytes + from, stride, count,
                                   static_cast<uint8_t>(size_of(env, arguments[4])),
                                   static_cast<uint8_t>(size_of(env, arguments[5]))));
}

// firstInexact(values)
napi_value first_inexact_call(napi_env env, napi_callback_info info) {
  napi_value argument = nullptr;
  size_t given = 1;
  napi_get_cb_info(env, info, &given, &argument, nullptr, nullptr);
  const Array array = array_of(env, argument);
  if (array.type != napi_float64_array) return number(env, 0);
  return number(env, first_inexact(reinterpret_cast<const double*>(array.bytes), array.length));
}

}  // namespace

void add_packing_calls(Napi::Object exports) {
  const Napi::Env env = exports.Env();
  const auto put = [&](const char* name, napi_callback call) {
    napi_value function = nullptr;
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, call, nullptr, &function) == napi_ok) {
      exports.Set(name, function);
    }
  };
  put("packRecords", pack_records_call);
  put("copyRecords", copy_records_call);
  put("firstOutside", first_outside_call);
  put("firstInexact", first_inexact_call);
}

}  // namespace tracewright
