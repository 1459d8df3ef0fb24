import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readClocks } from '../../core/clock.js';
import type { TargetCounts } from '../../core/no-counts.js';
import { recordsNothing } from '../../core/off.js';
import { ringTag } from '../../core/ring/ring-tag.js';
import { SharedTarget } from '../../core/ring/shared-target.js';
import { limitGroup } from '../../core/native-calls.js';
import { integerIn, ofType, oneOf, ownOptions } from '../../core/options/argument.js';
import { TracewrightError, wrongOrder } from '../../core/errors.js';
import { pathTaken, REPLACE_ADVICE } from '../../core/files/path-taken.js';
import { mayHoldRings, recoverPredecessor } from '../../core/recovery/predecessor.js';
import { mayCompile } from '../../core/ring/compile.js';
import { Ring } from '../../core/ring/ring.js';
import { checkRingOptions, RING_OPTIONS, ringSettings } from '../../core/options/ring-options.js';
import type { RingOptions } from '../../core/options/ring-options.js';
import { checkSizeOptions, SIZE_OPTIONS } from '../../core/options/size-limits.js';
import type { SizeOptions } from '../../core/options/size-limits.js';
import { hasCode, wrapSystemError } from '../../core/files/system-error.js';
import { pieceNames, ringPath } from '../file-names.js';
import {
  DEFINITION_STREAM,
  END_OFFSET,
  EPOCH_OPTION,
  EPOCH_PACKET_BYTES,
  MAGIC_OFFSET,
  METADATA_MAGIC,
  OPTION_NAME_OFFSET,
  SIZE_OFFSET,
  SUBSTREAM_OFFSET,
} from '../layout.js';
import { bytesOfPieces, piecesOf } from '../pieces.js';
import { compileShape, EventShapes } from './event-shapes.js';
import type { EventEmitter } from './event-shapes.js';
import { OpenEventTable } from './open-events.js';
import type { OpenSpanOptions } from './open-events.js';
import { Stream } from './stream.js';
import type { StreamTrace } from './stream.js';
import { checkTarget } from '../target.js';
import type { CheckedTarget, Target } from '../target.js';
import { LenientAttributes } from './taken-attributes.js';
import { statsOf } from './trace-stats.js';
import type { TraceStats } from './trace-stats.js';

/**
 * Options of `openTrace`. The size options apply to files only. A file that rotates is written in
 * numbered pieces: `trace.heph` becomes `trace.000001.heph`, `trace.000002.heph` and so on. Each piece
 * is a complete trace. Pieces of earlier processes count for `maxBytes`.
 */
export interface TraceOptions extends RingOptions, SizeOptions {
  /** `false`: nothing is opened, `startTrace` returns undefined, and finishing that does nothing. */
  enabled?: boolean;
  /**
   * If the file exists: `error` (default, as Heph's own runtime does) or `replace`. Only
   * a regular file is replaced. Its name is removed; a process that has it open keeps its content.
   */
  exists?: 'error' | 'replace';
  /**
   * Bytes of a datagram, 64 to 65,507; default 1,400, which crosses any network whole. A larger
   * event is refused.
   */
  datagramBytes?: number;
  /**
   * For a value in `finishTrace` that no attribute can have: `strict` (default): an error.
   * `lenient`: a date becomes its ISO text, an object or a mixed array its JSON, a longer string is
   * cut, and `null`, functions and symbols are left out. `stats().attributes` counts them.
   */
  attributes?: 'strict' | 'lenient';
  /** How long `flush` and `close` wait for a socket, in milliseconds, 0 to 600,000; default 5,000. */
  flushTimeoutMs?: number;
}

/**
 * Recovers the file of a dead process, or deletes the rings of a file that was removed.
 *
 * @returns as `recoverPredecessor`.
 */
function recoverTarget(file: string, ringDir: string | undefined): boolean {
  const directories = [dirname(resolve(file)), ...(ringDir === undefined ? [] : [ringDir])];
  if (!directories.some(mayHoldRings)) return true;
  const { discardRings, recoverTrace } =
    require('../read/recover.js') as typeof import('../read/recover.js');
  const recover = existsSync(file) ? recoverTrace : discardRings;
  return recoverPredecessor((options) => recover(file, options), ringDir);
}

/** The next one is that of the definitions. */
const LAST_STREAM = DEFINITION_STREAM - 1;
const MAX_DATAGRAM = 65_507;
/** Substreams of a thread whose events can wait at the same time. */
const WAITING_GROUPS = 16_384;
/** The packet that says when the trace's time begins (section "Metadata Packet"). */
function epochPacket(epochUnix: bigint): Buffer {
  const packet = Buffer.alloc(EPOCH_PACKET_BYTES);
  packet.writeUInt32BE(METADATA_MAGIC, MAGIC_OFFSET);
  packet.writeUInt32BE(EPOCH_PACKET_BYTES, SIZE_OFFSET);
  packet.writeUInt16BE(EPOCH_OPTION.length, OPTION_NAME_OFFSET);
  packet.write(EPOCH_OPTION, OPTION_NAME_OFFSET + 2);
  packet.writeBigUInt64BE(epochUnix, OPTION_NAME_OFFSET + 2 + EPOCH_OPTION.length);
  return packet;
}

/** A trace as one thread sees it. Threads of a process that open the same target share the trace. */
export class Trace implements StreamTrace {
  /** @internal */
  readonly ring: Ring;
  /** @internal Whether `startTrace` gives timings. */
  enabled: boolean;
  /** @internal Longest packet that the target takes, in bytes. */
  readonly packetLimit: number;
  /** @internal Whether a packet that is longer than the ring can be written past it. */
  readonly writesThrough: boolean;
  /** @internal */
  readonly epochUnix: bigint | undefined;
  /** @internal */
  readonly clock: 'scaled' | 'monotonic';
  /** @internal */
  readonly clockAtZero: bigint = 0n;
  /** @internal One element: the timing of the event that is being recorded. */
  readonly started = new Float64Array(1);
  /** @internal */
  readonly lenient: LenientAttributes | undefined;
  /** @internal Absent if functions cannot be compiled. */
  readonly shapes: EventShapes<EventEmitter> | undefined = mayCompile()
    ? new EventShapes(this, compileShape)
    : undefined;
  #target: SharedTarget | undefined;
  readonly #kind: CheckedTarget['kind'];
  #closed = false;
  readonly #streams = new Map<number, Stream>();
  readonly #flushTimeoutMs: number;
  #stats: TraceStats | undefined;

  /** @internal Use `openTrace`. */
  constructor(
    target: Target,
    options: TraceOptions,
    openEvents?: OpenEventTable,
    waitingBytes = 0,
  ) {
    const checked = checkTarget(target);
    options = ownOptions(options, [
      ...RING_OPTIONS,
      ...SIZE_OPTIONS,
      'enabled',
      'exists',
      'attributes',
      'datagramBytes',
      'flushTimeoutMs',
    ]);
    const { kind } = checked;
    this.#kind = kind;
    const settings = checkRingOptions(options, {
      onFull: kind === 'file' ? 'block' : 'drop',
      leastBytes: openEvents?.bytes ?? 0,
    });
    const openRecords = openEvents?.recordsIn(settings.ringBytes);
    const sizes = checkSizeOptions(options, settings.ringBytes);
    const datagramBytes = integerIn(
      'datagramBytes',
      options.datagramBytes ?? 1400,
      64,
      MAX_DATAGRAM,
    );
    this.#flushTimeoutMs = integerIn('flushTimeoutMs', options.flushTimeoutMs ?? 5000, 0, 600_000);
    const exists = oneOf('exists', options.exists ?? 'error', ['error', 'replace']);
    const attributes = oneOf('attributes', options.attributes ?? 'strict', ['strict', 'lenient']);
    this.lenient = attributes === 'lenient' ? new LenientAttributes() : undefined;
    const enabled = ofType('enabled', options.enabled ?? true, 'boolean');

    this.clock = settings.clock;
    this.enabled = enabled && !recordsNothing();
    this.packetLimit = kind === 'udp' ? datagramBytes : Infinity;
    this.writesThrough = kind === 'file';
    this.ring = new Ring(() => this.#closedError());
    if (!this.enabled) return;

    const { stamp: epoch, real: epochUnix } = readClocks(settings.clock);
    const { path } = checked;
    const { ringDir } = settings;
    if (kind === 'file' && ringDir !== undefined) {
      // Found out before the trace's file is there.
      wrapSystemError('ringDir', ringDir, () => {
        accessSync(ringDir, constants.W_OK);
      });
    }
    const recovered = (file: string) => recoverTarget(file, ringDir);
    const rotates = kind === 'file' && sizes.rotateBytes > 0;
    if (rotates) wrapSystemError('target', target, () => piecesOf(path)).forEach(recovered);
    const inUse = kind === 'file' && !rotates && !recovered(path) && existsSync(path);
    const deletes = sizes.atMaxBytes === 'deleteOldest';
    try {
      const joined = wrapSystemError('target', target, () =>
        SharedTarget.join({
          ...checked,
          preamble: epochPacket(epochUnix),
          datagramBytes,
          replace: exists === 'replace' && !inUse,
          rotateBytes: sizes.rotateBytes,
          ...(rotates && { pieces: pieceNames(path, ringDir) }),
          keepBytes: deletes ? sizes.maxBytes : 0,
          fileMode: settings.fileMode,
          epoch,
        }),
      );
      this.#target = joined;
      this.clockAtZero = joined.epoch;
      if (joined.created) this.epochUnix = epochUnix;
      if (joined.created && kind === 'file' && sizes.maxBytes > 0 && !deletes) {
        limitGroup(checked.key, sizes.maxBytes, rotates ? bytesOfPieces(path) : 0);
      }
    } catch (error) {
      if (kind !== 'file' || !hasCode(error, 'EEXIST')) throw error;
      // A trace of spans has no options.
      const advice = openEvents === undefined ? { advice: REPLACE_ADVICE } : {};
      throw pathTaken('target', path, { inUse, ...advice, cause: error });
    }
    this.ring.open(
      {
        ...(kind === 'file' ? { path: ringPath(path, ringDir, ringTag()) } : {}),
        ...ringSettings(settings),
        format: 'heph',
        target: path,
        group: checked.key,
        stampOffset: END_OFFSET,
        stamp: 'big',
        lengthOffset: SIZE_OFFSET,
        ...(openRecords && { openRecords }),
        ...(openRecords !== undefined &&
          waitingBytes > 0 && {
            waitingCapacity: 2 ** Math.ceil(Math.log2(waitingBytes)),
            waitingGroups: WAITING_GROUPS,
            groupAt: SUBSTREAM_OFFSET,
          }),
      },
      this.#target,
      settings.onFault,
    );
  }

  /**
   * A stream: the events of one thread of execution, which are numbered. The same id on the same
   * thread gives the same stream.
   *
   * @param id 0 to 2^32 - 2, of no other thread; default: the next number, from 1, that no thread of
   *   the process has been given. By Heph's custom 0 is the coordinator.
   * @throws TracewrightError `ERR_ORDER` for the id of a stream that another thread had or has.
   */
  stream(id?: number): Stream {
    return this.#streamOf(id, false);
  }

  /**
   * @internal The stream of a thread whose events can be open, in a trace that was opened with slots
   * for them. The table has its counter, so that events which nobody ends get the next numbers.
   */
  streamOfOpenEvents(id?: number): Stream {
    return this.#streamOf(id, true);
  }

  #streamOf(id: number | undefined, canBeOpen: boolean): Stream {
    if (this.#closed) throw this.#closedError();
    if (id !== undefined) integerIn('id', id, 0, LAST_STREAM);
    const known = id === undefined ? undefined : this.#streams.get(id);
    if (known !== undefined) return known;
    const taken =
      this.#target === undefined ? (id ?? this.#streams.size + 1) : this.#target.takeNumber(id);
    if (taken === -1 && !canBeOpen) {
      throw wrongOrder('stream', `another thread, or another trace of this one, has stream ${id!}`);
    }
    const number = taken === -1 ? id! : taken;
    const counter = canBeOpen ? this.ring.openRecords?.numbersOf(number) : undefined;
    const stream = new Stream(this, number, counter);
    this.#streams.set(number, stream);
    return stream;
  }

  /**
   * @internal Defines what events refer to by a number. Its packet is written now, and again where a
   * piece or a connection begins.
   *
   * @param key says what is defined: all threads of the process get the same number for it.
   * @param packetOf the event, of `DEFINITION_STREAM` and with all of its times.
   * @returns 0 if there is no room for it, or if the target has too many.
   */
  define(key: string, packetOf: (number: number) => Uint8Array): number {
    const target = this.#target;
    const number = target?.define(key) ?? 0;
    if (target === undefined || number === 0) return 0;
    const packet = packetOf(number);
    const { length } = packet;
    const { ring } = this;
    if (length > Math.min(this.packetLimit, ring.longestRecord)) return 0;
    // Before the record: it is missing in no piece that begins after it.
    if (!target.repeatDefinition(number, packet)) return 0;
    if (ring.free < length && !ring.makeRoom(length)) return 0;
    ring.bytes.set(packet, ring.position);
    ring.commitAsIs(length);
    return number;
  }

  /**
   * Resolves once every event that this thread finished before the call is in the file, or has been
   * handed to the network.
   *
   * @throws TracewrightError `ERR_TIMEOUT` when the target did not take them within
   *   `flushTimeoutMs`; they stay in the ring and go out when it does.
   */
  async flush(): Promise<void> {
    if (this.#closed) throw this.#closedError();
    if (await this.ring.drained(this.#flushTimeoutMs)) return;
    throw new TracewrightError(
      'ERR_TIMEOUT',
      `flush: the target did not take everything within ${this.#flushTimeoutMs} ms` +
        (this.stats().lastError === undefined ? '' : ` (${this.stats().lastError ?? ''})`),
      { field: 'flushTimeoutMs', value: this.#flushTimeoutMs },
    );
  }

  /**
   * Ends this thread's part of the trace. What a socket does not take within `flushTimeoutMs` is
   * counted as `dropped.unsent`. A second call does nothing.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.enabled = false;
    await this.ring.drained(this.#flushTimeoutMs);
    this.ring.close(0);
    this.#stats = this.stats();
    this.#target = undefined;
  }

  /** Counts of the events so far; after `close`, as they were then. */
  stats(): TraceStats {
    if (this.#stats !== undefined) return this.#stats;
    const counts = this.#target?.counts() ?? countsOfNothing();
    const stats = statsOf(counts, this.#kind, this.ring.openRecords !== undefined);
    return this.lenient === undefined
      ? stats
      : { ...stats, attributes: { ...this.lenient.counts } };
  }

  /** @internal A disabled trace has nothing to start; a closed one should not be asked. */
  refuseIfClosed(): void {
    if (this.#closed) throw this.#closedError();
  }

  #closedError(): TracewrightError {
    return new TracewrightError('ERR_CLOSED', 'the trace is closed', { field: 'trace' });
  }
}

/**
 * Opens a trace. In a worker_thread, a target that another thread of the process has open is the
 * same trace: one file or connection, one epoch.
 *
 * @param target a file name, `'udp://host:port'`, `'tcp://host:port'`, `'unix:/path'`, or an object
 *   that says the same.
 * @throws TracewrightError for a wrong option, or a file that exists or cannot be made. A collector
 *   that cannot be reached is no error: the trace connects when it comes.
 */
export function openTrace(target: Target, options: TraceOptions = {}): Trace {
  return new Trace(target, options);
}

/**
 * Opens a trace of which each thread can keep some events while they are open.
 *
 * @param waitingBytes of events of each thread that can wait until it is known whether the trace gets them.
 * @throws TracewrightError also for wrong `openSpans`.
 */
export function openTraceOfOpenEvents(
  target: Target,
  options: TraceOptions = {},
  openSpans: OpenSpanOptions = {},
  waitingBytes = 0,
): Trace {
  return new Trace(target, options, new OpenEventTable(openSpans), waitingBytes);
}

function countsOfNothing(): TargetCounts {
  const { noCounts } =
    require('../../core/no-counts.js') as typeof import('../../core/no-counts.js');
  return noCounts();
}
