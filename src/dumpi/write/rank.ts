import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { threadId } from 'node:worker_threads';
import { TracewrightError } from '../../core/errors.js';
import { makeDirectories } from '../../core/files/make-directories.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import { recordsNothing } from '../../core/off.js';
import { integerIn, ofType } from '../../core/options/argument.js';
import { directoryMode } from '../../core/options/file-mode.js';
import { ringTag } from '../../core/ring/ring-tag.js';
import { Ring } from '../../core/ring/ring.js';
import { holdingSignals } from '../../core/signals.js';
import { GETS_END } from '../../core/unfinished-target.js';
import { callNamed, FUNCTION_ENTER_LABEL, FUNCTION_EXIT_LABEL, TOTAL_LABEL } from '../calls.js';
import type { CallArguments } from '../calls.js';
import { LARGEST_SIZE, LAST_DATATYPE } from '../datatype-sizes.js';
import { rankRings, sideFiles } from '../file-names.js';
import type { SideFiles } from '../file-names.js';
import { ANNOTATION, BIASES_BYTES, BODY_OFFSET, WRITTEN_VERSION } from '../layout.js';
import { rankFileName, writeMetafile } from '../metafile.js';
import { checkSectionString } from '../section-encoder.js';
import { callLabel, CallEncoders } from './call-encoders.js';
import { CallStarts } from './call-starts.js';
import type { Timing } from './call-starts.js';
import { CallStream } from './call-stream.js';
import { openCallsRing, WALL_START, WALL_TURN } from './calls-ring.js';
import { oneSetting } from './configuration.js';
import type { Configuration, MpiCallName, Setting } from './configuration.js';
import { EndSections } from './end-sections.js';
import { followCall } from './followed-call.js';
import { FunctionAddresses, LAST_OWN_KEY } from './function-addresses.js';
import type { FunctionAt } from './function-addresses.js';
import { FunctionNames } from './function-names.js';
import { createHandles } from './handles.js';
import type { Handles } from './handles.js';
import { closeAtExit, forgetAtExit } from './open-ranks.js';
import { checkThread } from './plain-encoder.js';
import { checkRankOptions, checkText } from './rank-options.js';
import type { RankOptions } from './rank-options.js';

/** How often calls were made, and how many of these are not stored. */
export interface CallCounts {
  calls: number;
  ignored: number;
}

function rankClosed(): TracewrightError {
  return new TracewrightError('ERR_CLOSED', 'the rank is closed', { field: 'rank' });
}

/** The trace of one MPI rank: its calls, on their way to its file. */
export class Rank {
  /** The rank's number, and the ranks of the run. */
  readonly rank: number;
  readonly size: number;
  /** The trace file, absolute. It is complete once the rank is closed. */
  readonly path: string;
  /** Numbers for the MPI objects of the rank. */
  readonly handles: Handles = createHandles();
  /** Takes the start time of a call. A start that is never logged is never written. */
  readonly enter: () => Timing;

  /** @internal */
  readonly ring: Ring;
  readonly #stream: CallStream;
  readonly #starts: CallStarts;
  readonly #encoders: CallEncoders;
  readonly #names: FunctionNames;
  readonly #addresses: FunctionAddresses;
  readonly #area: Float64Array;
  readonly #stamp: Float64Array;
  readonly #end: EndSections;
  readonly #side: SideFiles;
  /** Whether nothing is recorded: there are no files then. */
  readonly #off: boolean;
  #closed = false;

  /** @internal Use `openRank`. */
  constructor(options: RankOptions) {
    const plan = checkRankOptions(options);
    this.rank = plan.rank;
    this.size = plan.size;
    this.path = rankFileName(plan.prefix, this.rank);
    this.#side = sideFiles(this.path);
    this.#off = recordsNothing();
    if (!this.#off) {
      wrapSystemError('directory', dirname(this.path), () => {
        makeDirectories(dirname(this.path), directoryMode(plan.ringOptions.fileMode));
      });
    }
    const tag = ringTag(threadId);
    const rings = rankRings(this.path, plan.ringOptions.ringDir, tag);
    const ring = new Ring(rankClosed);
    this.ring = ring;
    openCallsRing(ring, this.path, rings.calls, plan);
    this.#end = new EndSections(plan.sections, { path: this.path, ring, ringPath: rings.calls });
    this.#names = new FunctionNames(
      { file: this.#side.names, ring: rings.names },
      { file: this.path, ring },
      rankClosed,
    );
    this.#addresses = new FunctionAddresses(this.#names);
    this.#stream = new CallStream(ring, plan.head, this.#addresses, plan.counters);
    this.#area = this.#stream.area;
    this.#stamp = ring.stamp;
    const { configuration, checkIndices } = plan;
    this.#encoders = new CallEncoders(this.#stream, configuration, this.#end.sizes, checkIndices);
    this.#starts = new CallStarts(this.#stream, (text) => {
      this.annotate(text);
    });
    this.enter = this.#starts.enter;
    if (this.#off) return;
    try {
      this.#end.keep();
      if (this.rank === 0) this.#writeMetafile(plan.prefix, plan.ringOptions.fileMode);
    } catch (error) {
      ring.unfinished[0] = 0;
      ring.close(0);
      rmSync(this.path, { force: true });
      rmSync(this.#side.sections, { force: true });
      throw error;
    }
    closeAtExit(this);
  }

  #writeMetafile(prefix: string, fileMode: number): void {
    const { hostname, username, startTime } = this.#end.kept;
    const metafile = {
      hostname,
      numprocs: this.size,
      username,
      startTime,
      fileprefix: basename(prefix),
      version: WRITTEN_VERSION,
    };
    writeMetafile(`${prefix}.meta`, metafile, fileMode);
  }

  /** The settings of this rank now. */
  get configuration(): Configuration {
    return this.#encoders.configuration;
  }

  /**
   * Records a call that ends now.
   *
   *     const timing = rank.enter();
   *     send(message);
   *     rank.log('MPI_Send', { count: 64, datatype: Datatype.BYTE, dest: 1, tag: 7, comm: Comm.WORLD }, timing);
   *
   * @param args the call's arguments by name; see `CallArguments` for what each call has.
   * @param timing when it began; default: when it ended.
   * @param thread the thread that made it, 0 to 65,535; default 0.
   * @throws TracewrightError that names the call, the field and its limit; nothing is recorded then.
   */
  log<N extends MpiCallName>(
    name: N,
    args: CallArguments<N>,
    timing?: Timing,
    thread?: number,
  ): void {
    const encode = this.#encoders.of(name);
    const area = this.#area;
    if (timing === undefined) {
      if (this.#starts.detailed) this.#stream.startAtEnd();
      else area[WALL_START] = -1;
    } else if (
      typeof timing === 'number' &&
      (timing as number) >= area[WALL_TURN]! &&
      (timing as number) <= this.#stamp[0]!
    ) {
      area[WALL_START] = timing;
    } else {
      this.#starts.use(timing);
    }
    encode(args, thread);
  }

  /**
   * Calls a function and records it as a call of MPI, from its beginning to its end; where it returns
   * a promise, or anything else with a `then`, until that is settled: a promise is returned for it
   * then. A function that fails is recorded only if `args` is an object. What a function that succeeded
   * returned is lost only when the arguments made of it are wrong, and a failure is always its own. A
   * call that ends after `close` is not recorded.
   *
   * @param args the arguments, or a function that makes them of what the function returned.
   * @throws TracewrightError before the function is called: for a wrong name, arguments that are an
   *   object and wrong, or a rank that is closed. After it, for wrong arguments that `args` made.
   */
  wrap<N extends MpiCallName, R>(
    name: N,
    args: CallArguments<N> | ((result: Awaited<R>) => CallArguments<N>),
    fn: () => R,
  ): R {
    if (this.#closed) throw rankClosed();
    callLabel(name);
    if (typeof args !== 'function') this.#encoders.check(callNamed(name)!, args);
    ofType('fn', fn, 'function');
    const timing = this.enter();
    return followCall(fn, {
      succeeded: (result) => {
        if (this.#closed) return;
        this.log(name, typeof args === 'function' ? args(result) : args, timing);
      },
      failed: () => {
        if (typeof args === 'function' || this.#closed) return;
        try {
          this.log(name, args, timing);
        } catch {
          // The program changed the arguments meanwhile; its own error says more.
        }
      },
    });
  }

  /**
   * Records the entry into a function of the program.
   *
   * @param fn its name, which gets an address of its own, or the address that it has in the program.
   */
  functionEnter(fn: string | FunctionAt, thread?: number): void {
    if (this.configuration.functionEnter) this.#logFunction(FUNCTION_ENTER_LABEL, fn, thread);
  }

  /** Records the exit from a function of the program. */
  functionExit(fn: string | FunctionAt, thread?: number): void {
    if (this.configuration.functionExit) this.#logFunction(FUNCTION_EXIT_LABEL, fn, thread);
  }

  #logFunction(label: number, fn: string | FunctionAt, thread: number | undefined): void {
    const number = checkThread(thread);
    const address = this.#addresses.of(fn);
    if (address !== undefined) this.#stream.recordFunction(label, address, number);
  }

  /**
   * Records a text: MPI_Pcontrol(2, text), or with a key MPI_Pcontrol(3, key, text). The format stores
   * it as the entry and the exit of a function, whose name is `ANNOTATION: ` and the text.
   *
   * @param key 1 to 4,095; another text for the same key is an error. Default: a new key from 4,096.
   */
  annotate(text: string, key?: number): void {
    checkText('text', text);
    checkSectionString('text', ANNOTATION + text);
    if (key !== undefined) integerIn('key', key, 1, LAST_OWN_KEY);
    if (this.#encoders.store) this.#stream.annotate(text, key);
  }

  /**
   * Switches the recording of calls off or on, as MPI_Pcontrol(0) and (1) do. Calls that are not
   * recorded are counted as ignored. The entries and exits of functions go on.
   */
  profile(on: boolean): void {
    this.#encoders.store = ofType('on', on, 'boolean');
  }

  /**
   * Says whether calls of a name are stored from now on, as `libdumpi_set_profiling` does. While
   * recording is switched off it applies to the time after.
   */
  setProfiling(name: MpiCallName, setting: Setting): void {
    callLabel(name);
    this.#encoders.setCall(name, oneSetting('setting', setting));
  }

  /** Says whether statuses are stored from now on, as `libdumpi_set_status_output` does. */
  setStatusOutput(setting: Setting): void {
    this.#encoders.setStatuses(oneSetting('setting', setting));
  }

  /**
   * Adds a pair to the trace's list, which may hold a key more than once.
   *
   * @throws TracewrightError `ERR_SYSTEM` when the disk is full, say, or the rank's file was removed;
   *   the pair is not added then.
   */
  keyval(key: string, value: string): void {
    const pair = [checkText('key', key), checkText('value', value)] as const;
    if (this.#closed) throw rankClosed();
    this.#end.addPair(pair);
  }

  /**
   * Says how many bytes a datatype has. A rank finds out the size of a datatype from the call that
   * makes it (`MPI_Type_contiguous`, …). This is for the others, and for a size that
   * differs on the machine.
   *
   * @param datatype its number, 0 to 32,766.
   * @param bytes what MPI_Type_size says, 0 to 2^31 - 1.
   * @throws TracewrightError `ERR_SYSTEM` when the disk is full, say, or the rank's file was removed;
   *   the size is not changed then.
   */
  datatypeSize(datatype: number, bytes: number): void {
    integerIn('datatype', datatype, 0, LAST_DATATYPE);
    integerIn('bytes', bytes, 0, LARGEST_SIZE);
    if (this.#closed) throw rankClosed();
    this.#end.setSize(datatype, bytes);
  }

  /** How often a call has been made so far, or all calls together. */
  counts(name?: MpiCallName): CallCounts {
    const { stored, ignored } = this.#stream;
    if (name !== undefined) {
      const label = callLabel(name);
      return { calls: stored[label]! + ignored[label]!, ignored: ignored[label]! };
    }
    let calls = 0;
    let notStored = 0;
    for (let label = 0; label < TOTAL_LABEL; label++) {
      calls += stored[label]!;
      notStored += ignored[label]!;
    }
    return { calls: calls + notStored, ignored: notStored };
  }

  /**
   * Calls, entries, exits and annotations that were dropped: the ring was full (`onFull: 'drop'`), or
   * its file failed. The calls among them count as ignored, too.
   */
  get dropped(): number {
    return this.ring.droppedEvents + this.#names.ring.droppedEvents;
  }

  /**
   * Whether every call that was logged before is in the file within `limitMs` milliseconds.
   *
   * @param limitMs 0 to 2^31 - 1.
   */
  async flush(limitMs = 5000): Promise<boolean> {
    integerIn('limitMs', limitMs, 0, 0x7fff_ffff);
    if (this.#closed) throw rankClosed();
    return this.ring.drained(limitMs);
  }

  /**
   * Completes the file: the calls that are still in the ring, then header, footer, pairs, labels,
   * sizes, names and index. A second call does nothing. A rank that is still open when its thread
   * ends is closed then.
   *
   * @throws TracewrightError `ERR_SYSTEM` when the file cannot be written; the ring stays for
   *   `tracewright recover`.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    forgetAtExit(this);
    const { ring } = this;
    const names = this.#names;
    const ignored = this.#stream.ignored.slice();
    try {
      if (this.#off) return;
      this.#addresses.nameTheRest();
      wrapSystemError('path', this.path, () => {
        if (!ring.flush() || !names.flush()) {
          throw new TracewrightError(
            'ERR_SYSTEM',
            ring.counts()?.lastError ?? `${this.path} cannot be written`,
            { field: 'path', value: this.path },
          );
        }
        this.#end.checkPath();
        const bodyEnd = BODY_OFFSET + BIASES_BYTES + (ring.counts()?.committedBytes ?? 0);
        holdingSignals(() => {
          // Else a recovery would take what the end has so far for another trace's data.
          ring.unfinished[0] = GETS_END;
          this.#end.write(bodyEnd, {
            stored: this.#stream.stored,
            ignored,
            names: { file: this.#side.names, count: names.count, bytes: names.bytes },
            turned: this.#stream.turned,
          });
          // Without this file the trace is complete; until then, recovery can do everything again.
          rmSync(this.#side.sections, { force: true });
          names.close();
          rmSync(this.#side.names, { force: true });
          ring.unfinished[0] = 0;
          ring.close(0);
        });
      });
    } finally {
      names.close();
      ring.close(0);
    }
  }
}

/**
 * Opens the trace of a rank: `<fileRoot>-<start>-<rank>.bin`, and at rank 0 the run's metafile.
 *
 * @throws TracewrightError for a wrong option, or a file that exists or cannot be made.
 */
export function openRank(options: RankOptions): Rank {
  return new Rank(options);
}
