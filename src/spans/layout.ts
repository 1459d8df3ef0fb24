/**
 * How spans lie in Heph events: docs/formats/spans.md, version 2. The one file with its names, numbers
 * and bits.
 */

/** Of every definition and clock record. Readers of this version refuse a higher one. */
export const CONTRACT_VERSION = 2;

/** Names that begin with it are reserved. A program's own name that does gets one more in front. */
export const RESERVED = '~';

/**
 * The first attributes of a span, all u64 and in this order, 52 bytes together. The substream of the
 * event is the low half of the trace id.
 */
export const TRACE_HIGH = '~t';
export const SPAN_ID = '~s';
/** 0: a root. */
export const PARENT_ID = '~p';
export const FLAGS = '~f';

/** Bytes from the end of the event's description to the low half of the flags. */
export const FLAGS_AFTER_NAME = 3 * 13 + 9;
/** To the 16 bits of the flags that say why the trace was kept: see KEEP_SHIFT. */
export const KEEP_REASON_AFTER_NAME = 3 * 13 + 5;
/** Bytes of these attributes. */
export const IDENTITY_BYTES = 4 * 13;

/** Bits of the flags. */
export const TRACE_FLAGS_MASK = 0xff;
export const KIND_SHIFT = 8;
export const KIND_MASK = 0x7;
export const KIND_BITS = KIND_MASK << KIND_SHIFT;
export const STATUS_SHIFT = 11;
export const STATUS_MASK = 0x3;
export const UNFINISHED = 1 << 13;
export const PARENT_REMOTE = 1 << 14;
/** Bits of the flags that a span has of its own. */
export const OWN_FLAGS = (1 << 15) - 1;
/** The number of the resource: 16 bits; 0: none. */
export const RESOURCE_SHIFT = 16;
/** The number of the scope, in the high 32 bits of the flags: 16 bits; 0: none. */
export const NUMBER_MASK = 0xffff;

/**
 * Why a trace was kept, in the highest 16 bits of the flags: 3 bits of the reason, and above them 13 of the weight,
 * 256 times its binary logarithm. All are 0 in a thread that records every trace.
 */
export const KEEP_SHIFT = 16;
export const KEEP_REASON_MASK = 0x7;
export const KEEP_WEIGHT_SHIFT = 3;
export const KEEP_WEIGHT_UNIT = 256;
export const KEEP_REASONS = [
  undefined,
  'undecided',
  'slow',
  'error',
  'first',
  'caller',
  'ratio',
  'chosen',
] as const;
export type KeepReason = Exclude<(typeof KEEP_REASONS)[number], undefined>;

/** Kinds and states by their numbers. */
export const KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const;
export const STATUSES = ['unset', 'ok', 'error'] as const;
export const STATUS_OK = 1;
export const STATUS_ERROR = 2;
export type SpanKind = (typeof KINDS)[number];
export const SERVER = KINDS.indexOf('server');
/** The same in the flags. */
export const SERVER_BITS = SERVER << KIND_SHIFT;
/**
 * The kind of a server span whose local root is a server span, too, as some frameworks have. It is no request of its own.
 * Rows have it as internal, as they have every number above those of `KINDS`.
 */
export const NESTED_SERVER = 5;
export type SpanStatus = (typeof STATUSES)[number];

/** Fields that follow the program's attributes. They are absent where there is nothing to say. */
export const STATUS_MESSAGE = '~m';
export const TRACE_STATE = '~w';
/** i64, nanoseconds since the epoch: replace the event's own start and end. */
export const REAL_START = '~b';
export const REAL_END = '~e';
/** u64. Within an event or a link: of that. */
export const DROPPED_ATTRIBUTES = '~a';
export const DROPPED_EVENTS = '~n';
export const DROPPED_LINKS = '~k';
/** string: the scope of a span whose target has no room for another definition. */
export const SCOPE_NAME = '~c';
export const SCOPE_VERSION = '~r';
export const SCHEMA_URL = '~u';

/** Modifiers: an empty string each. They say what the value before them is. */
export const IS_BOOLEAN = '~?';
export const IS_NULL = '~0';
export const IS_BIGINT = '~#';
/** The u64 before is a count: so many attributes without a name follow, the elements. */
export const IS_ARRAY = '~[';
/** The string before is base64. */
export const IS_BYTES = '~*';
/** Not empty: the string before goes on. */
export const CONTINUED = '~+';

/**
 * Sections begin with an upper-case letter and end where the next one begins. The attributes in
 * between are those of the section.
 */
export const EVENT = '~E';
/** i64: nanoseconds from the span's start to the event. */
export const EVENT_TIME = '~d';
export const LINK = '~L';
export const LINK_TRACE_LOW = '~l';

/** u64, the first attribute of definitions and clock records. */
export const VERSION = '~v';
export const RESOURCE_DESCRIPTION = 'tracewright.resource';
/** Attribute of a resource. `off`: requests have no context, so nothing is below them. */
export const CONTEXT = 'tracewright.context';
/** Attribute of a resource. `threads`: the streams have the numbers of their threads, 0 the main one. */
export const STREAMS = 'tracewright.streams';
/** Attributes of a resource: which group of the host limits the memory of the process, and to how many bytes. */
export const MEMORY_GROUP = 'tracewright.memory.group';
export const MEMORY_LIMIT = 'tracewright.memory.limit';
export const SCOPE_DESCRIPTION = 'tracewright.scope';
export const CLOCK_DESCRIPTION = 'tracewright.clock';
/** u64, nanoseconds each, all of one moment: attributes of a clock record. */
export const CLOCK_TIME = 'time';
export const CLOCK_MONOTONIC = 'monotonic';
export const CLOCK_REAL = 'realtime';
export const CLOCK_BOOT = 'boottime';
/** A jump of a clock against another in nanoseconds: less is the time between two readings. */
export const CLOCK_JUMP = 1_000_000n;

/** Figures of an event loop within a time. All attributes are u64. */
export const LOOP_DESCRIPTION = 'tracewright.loop';
/** Nanoseconds in which it ran code. */
export const LOOP_BUSY = 'busy';
/** Number of its turns. */
export const LOOP_TURNS = 'turns';
/** Nanoseconds of the longest turn. */
export const LOOP_LONGEST = 'longest';
/** Nanoseconds that an event at a random moment waited on average. */
export const LOOP_DELAY = 'delay';
/** Nanoseconds in garbage collections, and their number. */
export const LOOP_GC = 'gc';
export const LOOP_COLLECTIONS = 'collections';
/** Nanoseconds that look-ups of names took, and their number. */
export const LOOP_DNS = 'dns';
export const LOOP_LOOK_UPS = 'lookups';
/** Nanoseconds that calls of libraries took which no span asked for, and their number. */
export const LOOP_CALLING = 'calling';
export const LOOP_CALLS = 'calls';
/** Bytes at the end of the time: of the thread's heap that are used, and of memory outside that it holds. */
export const LOOP_HEAP = 'heap';
export const LOOP_EXTERNAL = 'external';
/** Bytes that the heap has at most: V8's limit, with its young generation. */
export const LOOP_HEAP_LIMIT = 'limit';
/** Resident bytes of the process: the main thread has them. */
export const LOOP_RSS = 'rss';
/** Of its group, in the main thread: bytes used, and processes that were killed for want of memory. */
export const LOOP_GROUP = 'group';
export const LOOP_KILLS = 'kills';

/** Garbage collections of a thread that are no spans. */
export const COLLECTIONS_DESCRIPTION = 'tracewright.gc';
/** Text: `start:length:type` with commas, in ns. The start counts from that of the event. */
export const COLLECTIONS_LIST = 'collections';

/** Samples of what a thread ran. Lists with commas between them, of parts with colons between them. */
export const PROFILE_DESCRIPTION = 'tracewright.profile';
/** u64: nanoseconds of a sample. */
export const PROFILE_INTERVAL = 'interval';
/** Text: a line for each, `at function (script:line:column)` where the function begins. */
export const PROFILE_FRAMES = 'frames';
/** Text: number of the frame, number of the node that called it; the latter is empty for the outermost. */
export const PROFILE_NODES = 'nodes';
/** Text: microseconds since the start of the event, number of the node, number of the active span if it is known. */
export const PROFILE_SAMPLES = 'samples';
/** Text, instead of samples: number of the node, bytes alive that it has allocated, in so many objects. */
export const PROFILE_SIZES = 'sizes';
/** Text: ids. */
export const PROFILE_SPANS = 'spans';
/** Text: number of the node, line, and how many samples were at it. */
export const PROFILE_LINES = 'lines';

/** A thread ran from the start of the event to its end. */
export const THREAD_DESCRIPTION = 'tracewright.thread';

/** The process ran out of heap from the start of the event to its end. */
export const HEAP_END_DESCRIPTION = 'tracewright.heap';
/** u64: the limit in MiB. */
export const HEAP_LIMIT = 'limit';

/** The name of a span of what nothing caught: it ended the thread, or the process. */
export const UNCAUGHT = 'uncaught exception';

/** Losses of a thread. All attributes are u64. */
export const LOSS_DESCRIPTION = 'tracewright.loss';
/** Spans that were open at its end and had no slot in the table of open spans. */
export const LOST_OPEN = 'open';
/** Records that found the thread's ring full: they are missing among those before. */
export const LOST_DROPPED = 'dropped';
/** Texts of spans that were not recorded because their redaction took too long. */
export const LOST_TEXTS = 'texts';

/** Requests that were not kept: how many of a name, within a time. */
export const RELEASED_DESCRIPTION = 'tracewright.released';
/** Text: the name of the local root. */
export const RELEASED_NAME = 'name';
export const RELEASED_ROUTE = 'route';
/** u64: its kind, how many there were, how many had failed, and nanoseconds of all together. */
export const RELEASED_KIND = 'kind';
export const RELEASED_COUNT = 'count';
export const RELEASED_ERRORS = 'errors';
export const RELEASED_TIME = 'time';
/** u64: the number of the resource. */
export const RELEASED_RESOURCE = 'resource';
/** Text: `bucket:count` with commas. */
export const RELEASED_DURATIONS = 'durations';
/** u64, 1: the name is that of operations below local roots; absent: of local roots. */
export const RELEASED_BELOW = 'below';

/** u64: how many of them the limit has released; absent: none. */
export const RELEASED_LIMITED = 'limited';

/** Attribute of a resource: which traces are kept, as `TRACEWRIGHT_KEEP` would say it; absent: all are. */
export const KEEP_RULES = 'tracewright.keep';

/** Attribute of a resource: the share of the traces that begin there and are recorded; absent: all are. */
export const SAMPLING_RATIO = 'tracewright.sampling.ratio';

/** Attribute of a resource: why no path was recorded; absent: paths were. */
export const REDACTION_FAULT = 'tracewright.redaction.fault';

/** Bytes of a modifier: u16 length, name, type, u16 length 0. */
export const MODIFIER_BYTES = 7;
