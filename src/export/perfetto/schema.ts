import { BYTES, FIXED64, VARINT, tagOf } from '../protobuf-bytes.js';

/** Fields of Perfetto's published schema (protos/perfetto/trace) as tags of protobuf. */

/** Trace. */
export const PACKET = tagOf(1, BYTES);

/** TracePacket. */
export const CLOCK_SNAPSHOT = tagOf(6, BYTES);
export const TIMESTAMP = tagOf(8, VARINT);
export const SEQUENCE_ID = tagOf(10, VARINT);
export const TRACK_EVENT = tagOf(11, BYTES);
export const INTERNED_DATA = tagOf(12, BYTES);
export const SEQUENCE_FLAGS = tagOf(13, VARINT);
export const TRACK_DESCRIPTOR = tagOf(60, BYTES);
export const STATE_CLEARED = 1;
export const NEEDS_STATE = 2;

/** ClockSnapshot and its Clock. */
export const CLOCKS = tagOf(1, BYTES);
export const CLOCK_ID = tagOf(1, VARINT);
export const CLOCK_TIMESTAMP = tagOf(2, VARINT);
export const CLOCK_REALTIME = 1;
export const CLOCK_BOOTTIME = 6;

/** TrackEvent. */
export const CATEGORY_IIDS = tagOf(3, VARINT);
export const DEBUG_ANNOTATIONS = tagOf(4, BYTES);
export const EVENT_TYPE = tagOf(9, VARINT);
export const EVENT_NAME_IID = tagOf(10, VARINT);
export const TRACK_UUID = tagOf(11, VARINT);
export const EVENT_NAME = tagOf(23, BYTES);
export const COUNTER_VALUE = tagOf(30, VARINT);
export const DOUBLE_COUNTER_VALUE = tagOf(44, FIXED64);
export const FLOW_IDS = tagOf(47, FIXED64);
export const SLICE_BEGIN = 1;
export const SLICE_END = 2;
export const INSTANT = 3;
export const COUNTER = 4;

/** DebugAnnotation. */
export const ANNOTATION_NAME_IID = tagOf(1, VARINT);
export const BOOL_VALUE = tagOf(2, VARINT);
export const UINT_VALUE = tagOf(3, VARINT);
export const INT_VALUE = tagOf(4, VARINT);
export const DOUBLE_VALUE = tagOf(5, FIXED64);
export const STRING_VALUE = tagOf(6, BYTES);
export const POINTER_VALUE = tagOf(7, VARINT);
export const ANNOTATION_NAME = tagOf(10, BYTES);
export const DICT_ENTRIES = tagOf(11, BYTES);
export const ARRAY_VALUES = tagOf(12, BYTES);
export const STRING_VALUE_IID = tagOf(17, VARINT);

/** InternedData, and the entries of its tables, which all are alike. */
export const EVENT_CATEGORIES = tagOf(1, BYTES);
export const EVENT_NAMES = tagOf(2, BYTES);
export const ANNOTATION_NAMES = tagOf(3, BYTES);
export const ANNOTATION_STRINGS = tagOf(29, BYTES);
export const ENTRY_IID = tagOf(1, VARINT);
export const ENTRY_TEXT = tagOf(2, BYTES);

/** TrackDescriptor. */
export const UUID = tagOf(1, VARINT);
export const TRACK_NAME = tagOf(2, BYTES);
export const PROCESS = tagOf(3, BYTES);
export const THREAD = tagOf(4, BYTES);
export const PARENT_UUID = tagOf(5, VARINT);
export const COUNTER_DESCRIPTOR = tagOf(8, BYTES);

/** ProcessDescriptor. */
export const PROCESS_PID = tagOf(1, VARINT);
export const PROCESS_NAME = tagOf(6, BYTES);
export const PROCESS_LABELS = tagOf(8, BYTES);

/** ThreadDescriptor. */
export const THREAD_PID = tagOf(1, VARINT);
export const THREAD_TID = tagOf(2, VARINT);
export const THREAD_NAME = tagOf(5, BYTES);

/** CounterDescriptor. */
export const UNIT = tagOf(3, VARINT);
export const UNIT_NAME = tagOf(6, BYTES);
export const UNIT_TIME_NS = 1;
export const UNIT_COUNT = 2;
export const UNIT_SIZE_BYTES = 3;
