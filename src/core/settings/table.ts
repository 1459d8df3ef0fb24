import { PRIVATE_FILE } from '../options/file-mode.js';
import {
  ADDRESS,
  bytes,
  duration,
  fileMode,
  flag,
  flagOr,
  hosts,
  list,
  names,
  oneOf,
  text,
  whole,
} from './kinds.js';
import type { Kind } from './kinds.js';

/** A variable of the environment, and the option that overrides it. */
export interface Setting<T, D> {
  readonly kind: Kind<T>;
  /** The default. */
  readonly otherwise: D;
  /** What a wrong value does: nothing is traced, or nothing that might be secret. Default: a warning and the default. */
  readonly invalid: 'untraced' | 'closed' | undefined;
  /** The option of calls, as errors name it. */
  readonly option: string | undefined;
}

function setting<T, const D>(kind: Kind<T>, otherwise: D, option?: string): Setting<T, D> {
  return { kind, otherwise, option, invalid: undefined };
}

function strict<T, const D>(
  invalid: 'untraced' | 'closed',
  kind: Kind<T>,
  otherwise: D,
  option?: string,
): Setting<T, D> {
  return { kind, otherwise, option, invalid };
}

const MIB = 1 << 20;
const { MAX_SAFE_INTEGER } = Number;
export const LARGEST_RING = 512 * MIB;

/**
 * Every variable that Tracewright reads in a traced process. The comments, which cost a start nothing, are the text of
 * docs/options.md: `npm run docs:options` writes it. Its first table is the first twelve.
 */
export const SETTINGS = {
  /**
   * `off` switches the hook off: it loads nothing and writes nothing. `on` also traces tools, see
   * [below](#which-processes-are-traced).
   * @default on, except for tools
   */
  ENABLED: setting(flag, undefined),
  /**
   * Directory of the run, one for each service. If it contains a run already, `.1`, `.2` … is appended.
   * @default `traces/<name>-<date and time>-<pid>`
   */
  DIR: setting(text('a path'), undefined),
  /**
   * Most bytes of a trace, for each process and format. Traces of ended processes may take as much again. See
   * [Bounds](reliability/promise.md#limit-the-size).
   * @default no limit
   */
  MAX_BYTES: setting(
    bytes(1, MAX_SAFE_INTEGER, ' (at least 4 times ringBytes)'),
    undefined,
    'maxBytes',
  ),
  /**
   * Which traces are kept whole: `slower:500ms,errors,ratio:0.01`. See [keep](keep.md).
   * @default all
   */
  KEEP: setting(text('rules such as slower:500ms,errors,ratio:0.01'), undefined),
  /**
   * A process next to the run [sends its spans](shipping.md) there. `TRACEWRIGHT_MAX_BYTES` is then 1 GiB, unless set.
   * @default none
   */
  SHIP: setting(
    text('a URL such as http://localhost:4318', /^(?:https?|nats|tls|file):\/\//i),
    undefined,
  ),
  /**
   * Which [libraries](libraries.md) are recorded. `auto`: all but those that must be named.
   * @default `auto`
   */
  LIBRARIES: setting(list('auto, off, or names with commas between them'), undefined),
  /** Records the text of queries, without their literals. */
  QUERY_TEXT: setting(flag, false),
  /**
   * Of which errors the [messages](errors.md#what-makes-one-row) are recorded: `on` of all, and of libraries' too, which
   * may contain values; `own` of those that the program's own code has thrown in a handler.
   */
  ERROR_TEXT: setting(flagOr('own'), 'own'),
  /**
   * What is replaced in paths and queries: `pattern=replacement`, several with spaces between them. See
   * [redaction](spans.md#redaction).
   * @default none
   */
  REDACT_PATHS: strict('closed', text('pattern=replacement'), ''),
  /**
   * Which hosts get the trace's ids with a request. `auto`: all. Named hosts also get the
   * [baggage](spans.md#functions). `auto,api.example` combines both, `*.corp.example` is a domain.
   * @default `auto`
   */
  PROPAGATE: setting(hosts, undefined),
  /** Duration of a turn after which an [event loop](event-loop.md) stalls. `off`: loops are not watched. */
  STALL_MS: setting(duration(1, 60_000, 0), 50),
  /**
   * Prints neither where the traces are nor, at the end, what they lack.
   * @default `off`; `on` in `node --test`
   */
  QUIET: setting(flag, undefined),

  /**
   * Where a process next to the run serves [metrics](shipping/metrics.md) for Prometheus.
   * @default none
   */
  METRICS: setting(text('HOST:PORT, such as 127.0.0.1:9464', ADDRESS), undefined),
  /** With `heph` alone a thread has an [ovni stream](instrumentation.md#events-of-your-own-in-ovni) once the program calls ovni. */
  FORMATS: setting(list('heph, ovni or heph,ovni', /^(?:(?:heph|ovni)(?:,|$))+$/), ['heph']),
  /**
   * Where Heph goes: a file, `udp://host:port`, `tcp://host:port` or `unix:/path`.
   * @default a file in the directory
   */
  HEPH_TARGET: strict('untraced', text('a target'), undefined),
  /** Version of the ovni format. */
  OVNI_VERSION: setting(oneOf('1', '3'), '3'),
  /**
   * Name of ovni's loom (host).
   * @default the host's name
   */
  LOOM: setting<string, undefined>(
    {
      limit: "1 to 200 bytes without '/'",
      parse: (name) => (Buffer.byteLength(name) > 200 || name.includes('/') ? undefined : name),
    },
    undefined,
  ),
  /** ovni's application id. */
  APP: setting(whole(1, 0x7fff_ffff), 1),
  /**
   * First part of the names of directories and files.
   * @default the script's file name without extension
   */
  NAME: setting(text(), undefined),
  /** Adds the attribute `http.response.size` to requests. */
  REQUEST_BYTES: setting(flag, false),
  /** `on`: what a request does is below it. `off`: [nothing is](requests.md#without-context). */
  CONTEXT: setting(flag, true),
  /**
   * `on`: spans of the [OpenTelemetry API](otel-hook.md) are recorded. `off`: the hook leaves that API alone. `auto`:
   * on if requests have context.
   */
  OTEL: setting(flagOr('auto'), 'auto'),
  /**
   * Which of OpenTelemetry's [instrumentations](otel-hook.md#instrumentations) the hook starts. `auto`: those in the
   * program's package.json. Or names: `pg,@prisma/instrumentation`.
   * @default `auto`
   */
  INSTRUMENTATIONS: setting(
    list(
      'auto, off, or names of packages with commas between them',
      /^(?:(?:@[\w.-]+\/)?[\w.-]+(?:,|$))+$/,
    ),
    undefined,
  ),
  /** Which callers decide whether their trace is recorded. */
  TRUST: setting(
    list(
      'loopback, all, none, or addresses with commas between them',
      /^(?:all|none|(?:(?:loopback|[\da-f.:]+)(?:,|$))+)$/i,
    ),
    ['loopback'],
  ),
  /** Memory of each thread for spans that wait until their trace is decided. */
  WAITING_BYTES: setting(bytes(MIB, 512 * MIB), 8 * MIB, 'keep.waitingBytes'),
  /** Which traces a ratio records: `javascript` those of OpenTelemetry's JavaScript SDK. See [propagation](propagation.md#sampling). */
  RATIO_RULE: setting(oneOf('threshold', 'javascript'), 'threshold'),
  /**
   * Libraries into which [channels are put](libraries.md#libraries-without-channels).
   * @default `auto`
   */
  INJECT: setting(list('auto, off, or names with commas between them'), undefined),
  /** `ids` adds [the ids of the active span](spans.md#logs) to the lines of pino, winston and bunyan. */
  LOGS: setting(oneOf('off', 'ids'), 'off'),
  /**
   * Attributes that are left out of spans and requests. `*` at the end of a name is any rest. See
   * [redaction](spans.md#redaction).
   * @default none
   */
  REDACT_DROP: setting(names, []),
  /**
   * The same of attributes whose value becomes `***`.
   * @default none
   */
  REDACT_MASK: setting(names, []),
  /**
   * Open spans of a thread that survive a kill. Memory [grows with them](spans.md#options-of-configure). Further ones
   * are counted, and lost in a kill.
   * @default 8,192
   */
  OPEN_SPANS: setting(whole(0, 0x1_0000), undefined, 'openSpans.count'),
  /** Bytes of each open span that survive a kill. A longer span is cut. */
  OPEN_SPAN_BYTES: setting(bytes(128, 0x1_0000), 496, 'openSpans.bytes'),
  /**
   * `cpu` samples [what each thread runs](event-loop.md#which-code-takes-the-cpu), 20 times a second; `cpu:100` 100 times.
   * `heap` samples [what it allocates](event-loop.md#which-code-takes-the-memory).
   * @default `off`
   */
  PROFILE: setting(
    list(
      'off, or of cpu, cpu:HZ (1 to 1000 a second) and heap',
      /^(?:(?:heap|cpu(?::(?:[1-9]\d{0,2}|1000))?)(?:,|$))+$/,
    ),
    [],
  ),
  /** Whether a stall has the [stacks](event-loop.md#which-code-it-was) of its thread. */
  STALL_STACKS: setting(flag, true),
  /** Duration from which a [garbage collection](event-loop.md#garbage-collections) is a span. `off`: none is. */
  GC_MS: setting(duration(0, 60_000, -1), 1),
  /**
   * Bytes of each *ring*, rounded up to a power of two.
   * @default 2 MiB
   */
  RING_BYTES: setting(bytes(64 * 1024, LARGEST_RING), undefined, 'ringBytes'),
  /**
   * Directory for the rings' files, such as `/dev/shm`. A relative one is resolved when it is first used.
   * @default next to the trace
   */
  RING_DIR: strict('untraced', text('the path of a directory'), undefined, 'ringDir'),
  /**
   * Mode of a trace's files, less the umask. See [Security](reliability/security.md#permissions).
   * @default 0600
   */
  FILE_MODE: strict('untraced', fileMode, PRIVATE_FILE, 'fileMode'),
  /**
   * What happens to an event when the ring is full. `block` writes the ring out first, or waits for the socket. `drop`
   * drops the event and counts it.
   * @default `block` for files, `drop` for sockets
   */
  ON_FULL: strict('untraced', oneOf('block', 'drop'), undefined, 'onFull'),
  /**
   * `scaled` reads the CPU's counter if the kernel keeps time by it. `monotonic` always asks the kernel. Both are
   * nanoseconds of CLOCK_MONOTONIC.
   */
  CLOCK: strict('untraced', oneOf('scaled', 'monotonic'), 'scaled', 'clock'),
  /**
   * Bytes after which a trace goes on in a new file or directory, a *piece*.
   * @default an eighth of `TRACEWRIGHT_MAX_BYTES`; none with `stop`
   */
  ROTATE_BYTES: setting(
    bytes(1, MAX_SAFE_INTEGER, ' (at least 2 times ringBytes)'),
    undefined,
    'rotateBytes',
  ),
  /** What happens at the limit: `deleteOldest` deletes the oldest piece, `stop` drops further events. */
  AT_MAX_BYTES: strict('untraced', oneOf('deleteOldest', 'stop'), 'deleteOldest', 'atMaxBytes'),
  /** If there is no native binary, `on` makes that an error. Otherwise there is one warning, and nothing is recorded. */
  REQUIRED: setting(flag, false),
  /**
   * The native binary is searched only in this directory, see [Bundlers](environments.md#bundlers).
   * @default the package's own
   */
  PREBUILD: setting(text('a path'), undefined),
  /**
   * Directory of the traces of [MPI ranks](mpi-ranks.md).
   * @default the working directory
   */
  DUMPI_DIR: setting(text('a path'), '.'),
} as const satisfies Record<string, Setting<unknown, unknown>>;
