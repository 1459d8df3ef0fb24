/**
 * The layout of a DUMPI trace file, with all its offsets, masks and magics (notes on
 * the DUMPI trace format, sections T.0 to T.8; the bytes are those of sst-dumpi 13.1 where the notes
 * are older). Everything is big-endian. The calls and their fields are in calls.ts.
 *
 * In the order of a file: magic, body, header, footer, keyvals, counter labels, datatype sizes,
 * function names, index. A string is a u16 length and the bytes.
 */

/** The first eight bytes, and the first of the index: `ff aa dd 'D' 'U' 'M' 'P' 'I'`. */
export const MAGIC = 0xffaa_dd44_554d_5049n;
export const MAGIC_BYTES = 8;

/** The version that writers name: that of sst-dumpi 13.1. */
export const WRITTEN_VERSION = [13, 0, 0] as const;

/** Body: i32 CPU bias, i32 wall bias (seconds), the calls, u16 293. */
export const BODY_OFFSET = MAGIC_BYTES;
export const CPU_BIAS_OFFSET = 0;
export const WALL_BIAS_OFFSET = 4;
export const BIASES_BYTES = 8;

/** A call: u16 label, u8 mask, then what the mask says in the order in which it is here. */
export const CALL_MASK_OFFSET = 2;
export const CALL_HEAD_BYTES = 3;
/** u16 thread. */
export const MASK_THREAD = 0x40;
/** Start and stop of CPU time, each u16 seconds over the bias and u32 nanoseconds. */
export const MASK_CPU_TIME = 0x04;
/** Start and stop of wall time, likewise. */
export const MASK_WALL_TIME = 0x08;
/** u8 count of counters, then i64 at entry and i64 at exit for each. */
export const MASK_COUNTERS = 0x80;
/** Statuses are stored: 1 when a call succeeded, 2 always; written as both, read as either. */
export const MASK_STATUSES = 0x03;

export const THREAD_BYTES = 2;
/** u16 seconds and u32 nanoseconds. */
const CLOCK_BYTES = 6;
/** A start and a stop. */
export const TIMES_BYTES = 2 * CLOCK_BYTES;
/** Seconds over the bias are 16 bits. */
const MAX_SECONDS = 0xffff;
export const TURN_SECONDS = MAX_SECONDS + 1;

/** The name of an annotation, which is a function to the format, begins with this. */
export const ANNOTATION = 'ANNOTATION: ';
export type Clock = 'wall' | 'cpu';
/**
 * The annotations of our own writer that say that a clock's seconds begin again. They do so at the
 * annotation's exit, which is at 0 s. There is one annotation for each time that they do.
 */
export const TURN_TEXTS: Readonly<Record<Clock, string>> = {
  wall: `the seconds of the wall clock begin again: add ${TURN_SECONDS} from here`,
  cpu: `the seconds of the CPU clock begin again: add ${TURN_SECONDS} from here`,
};
/**
 * The functions that those annotations enter and leave. Other annotations have smaller addresses, and
 * functions of the program have larger ones.
 */
export const TURN_ADDRESSES: Readonly<Record<Clock, bigint>> = {
  wall: 2n ** 32n - 2n,
  cpu: 2n ** 32n - 1n,
};
export const FIRST_FUNCTION_ADDRESS = 2n ** 32n;
/** The name of a function whose name is not known. */
export const NO_FUNCTION_NAME = '<none>';
/** The argument of a function's entry or exit. */
export const ADDRESS_BYTES = 8;
export const COUNTER_BYTES = 16;

/** An array's count and a string's length in the arguments of a call. */
export const COUNT_BYTES = 4;

/**
 * One status: i32 bytes, i32 source, i8 cancelled, i8 error, i32 tag. In front of one or several
 * lies an i32 count; 0 when they were ignored. Nothing at all lies where the mask says that
 * statuses are not stored.
 */
export const STATUS_BYTES_OFFSET = 0;
export const STATUS_SOURCE_OFFSET = 4;
export const STATUS_CANCELLED_OFFSET = 8;
export const STATUS_ERROR_OFFSET = 9;
export const STATUS_TAG_OFFSET = 10;
export const STATUS_RECORD_BYTES = 14;

/**
 * Header: 3 x i8 version, u64 start time (seconds since the Unix epoch), hostname, username, i32 mesh
 * dimensions and that many i32 coordinates, i32 again and that many i32 sizes.
 *
 * Footer: u64 magic, 291 x u32 counts of calls, 291 x u32 counts of calls that were not stored. */
export const FOOTER_MAGIC = 0xf007_fee7n;

/** A string of the sections: a u16 length and the bytes. */
export const MAX_STRING_BYTES = 0xffff;
/** The format's own reader has room for 80 bytes of a counter's label, one of them a NUL. */
export const MAX_COUNTER_LABEL_BYTES = 79;

type DescribingSection = 'datatypeSizes' | 'functionNames' | 'counterLabels' | 'keyvals';
/** A section that the index has an entry for. */
export type SectionName = 'header' | 'body' | 'footer' | DescribingSection;

/**
 * The index, at the very end of the file: u64 magic, then u64 offsets from the start of the file in
 * this order; 0 is a section that is not there. An empty keyval section is there, but has offset 0.
 */
export const INDEX_ENTRIES: readonly SectionName[] = [
  'datatypeSizes',
  'functionNames',
  'counterLabels',
  'header',
  'body',
  'footer',
  'keyvals',
];
export const INDEX_BYTES = 8 * (1 + INDEX_ENTRIES.length);
/** Entries that the oldest traces lack, counted from the front; newer ones put each before the rest. */
export const OPTIONAL_INDEX_ENTRIES = 3;

/** Traces older than these have mesh sizes, a second argc and a status' tag in another way, or not. */
export const MESH_SIZE_VERSION = [0, 5, 0] as const;
export const SINGLE_ARGC_VERSION = [0, 6, 2] as const;
export const STATUS_TAG_VERSION = [0, 6, 3] as const;

/** Most elements of a section that readers accept. */
export const MAX_SECTION_ELEMENTS = 1 << 20;
