import { counted } from '../core/readable-text.js';
import { hasCode } from '../core/files/system-error.js';
import { hasValidIds } from '../export/otlp/span-batches.js';
import type { SpanRecord } from '../spans/span-record.js';
import type { SpanPosition } from '../spans/read/span-follower.js';
import { Bandwidth } from './bandwidth.js';
import { BatchBuilder } from './batch.js';
import { isAmong } from './batch-ends.js';
import type { BatchEnds } from './batch-ends.js';
import type { PlacedBatch } from './batch.js';
import { BatchesOnTheWay } from './batches-on-the-way.js';
import type { SentBatch } from './batches-on-the-way.js';
import type { Checkpoint } from './checkpoint.js';
import { Delivery, DeliveryEnded } from './delivery.js';
import { FollowedFiles } from './followed-files.js';
import { faultOf } from './errors.js';
import type { FollowedFile } from './followed-files.js';
import { SilenceLimit } from './silence-limit.js';
import { recoverDead } from './recover-dead.js';
import { refusalReport } from './refused-spans.js';
import { FullResources } from './resource-options.js';
import type { ShipCounts, ShipperOptions } from './shipper-options.js';
import type { ShipTarget } from './target.js';

/** Batches on their way at once, unless set. */
export const IN_FLIGHT = 4;
/** Batches of a file before the next file has its turn: what was read ahead, a mebibyte at most, is read again. */
const TURN_BATCHES = 60;
/** Files are looked at after this time, in milliseconds. */
const LOOK_MS = 250;
/** After so many bytes of a file others have their turn, if it has no batch in them. */
const PAUSE_BYTES = 1 << 20;
/** Spans that wait until the ends of their batches are noted. */
const MOST_TAIL_SPANS = 20_000;
/** The checkpoint is written at most so often, in milliseconds. */
const SAVE_MS = 1000;
/** Without a living process, for `idle`: longer than a new file can go unseen. */
const IDLE_MS = 30_000;
/** Without an answer of the target, `once` and `idle` end after this time, in milliseconds. */
const PATIENCE_MS = 600_000;
/** A target that failed has so long for a last answer, in milliseconds. */
const LAST_TRY_MS = 2000;

/** When a shipper ends by itself. */
type Until = 'ended' | 'once' | 'idle';

/** Sends the spans below some paths to one target, and keeps a checkpoint of what it has. */
export class Shipper {
  readonly target: ShipTarget;
  readonly counts: ShipCounts = {
    spans: 0,
    refused: 0,
    invalid: 0,
    retries: 0,
    deletedBytes: 0,
    newestMs: 0,
  };
  readonly #options: ShipperOptions;
  readonly #checkpoint: Checkpoint | undefined;
  readonly #files: FollowedFiles;
  readonly #delivery: Delivery;
  readonly #builder = new BatchBuilder();
  readonly #onTheWay: BatchesOnTheWay;
  /** Of a target that knows repeats: ends of batches, and those that wait until their ends are noted. */
  readonly #ends: BatchEnds | undefined;
  #tails: PlacedBatch[] = [];
  #tailSpans = 0;
  #settled: (() => void) | undefined;
  #savedAt = 0;
  #isEnding = false;
  #until: Until = 'ended';
  readonly #silence: SilenceLimit;
  readonly #resources: FullResources;
  readonly #bandwidth: Bandwidth;

  /** @param checkpoint undefined: nothing is kept. */
  constructor(target: ShipTarget, checkpoint: Checkpoint | undefined, options: ShipperOptions) {
    const { onMessage, onFault, paths, ringDirs, owners, newestFirst } = options;
    this.target = target;
    this.#options = options;
    this.#resources = new FullResources(options.resource);
    this.#bandwidth = new Bandwidth(options.bytesPerSecond);
    this.#checkpoint = checkpoint;
    if (target.knowsRepeats === true) this.#ends = checkpoint?.endsOf(target.label);
    this.#onTheWay = new BatchesOnTheWay(target.label, checkpoint, this.#ends);
    target.store?.begin(checkpoint?.unnamedOf(target.label) ?? [], (files) => {
      this.#onTheWay.noteStored(files);
    });
    const say = (text: string): void => {
      onMessage(`${target.label}: ${text}`);
    };
    const reportRefusal = refusalReport(target.label, options.refusedSpans, say);
    const positions = checkpoint?.positionsOf(target.label) ?? new Map<string, SpanPosition>();
    const { onRecord } = options;
    const following = { ringDirs, owners, newestFirst, onFault, onRecord, onNote: onMessage };
    this.#files = new FollowedFiles(paths, positions, following);
    const isBusy = (): boolean => this.#until === 'idle' && this.#files.isGrowing;
    this.#silence = new SilenceLimit(options.patienceMs ?? PATIENCE_MS, isBusy, () => {
      this.end(LAST_TRY_MS);
    });
    const { counts } = this;
    this.#delivery = new Delivery(target, {
      probeMs: options.probeMs,
      onTrouble: (reason, isStopped) => {
        say(isStopped ? `stopped, asked once a minute: ${reason}` : `retrying: ${reason}`);
        // Nobody changes a setting of a process that is about to end.
        if (this.#until === 'once' && isStopped) this.end(LAST_TRY_MS);
        else if (this.#until !== 'ended') this.#silence.begin();
      },
      onWell: () => {
        say('answers again');
        this.#silence.end();
      },
      onRetry() {
        counts.retries++;
      },
      onSent(spans) {
        counts.spans += spans;
      },
      onRefused(count, reason, batch) {
        counts.refused += count;
        reportRefusal(count, reason, batch);
      },
    });
  }

  /** Why nothing can be sent now; undefined: the target answers. */
  get trouble(): { reason: string; isStopped: boolean } | undefined {
    return this.#delivery.trouble;
  }

  /** Whether everything that was read has arrived. */
  get isIdle(): boolean {
    return this.#onTheWay.isEmpty;
  }

  /** How long what was recorded has waited, in milliseconds. */
  get lagMs(): number {
    const { waitsSince } = this.#onTheWay;
    const waiting = waitsSince === undefined ? 0 : performance.now() - waitsSince;
    const { newestMs } = this.counts;
    // Of a file that has more than a turn's batches.
    const isBehind = newestMs > 0 && this.#files.hasUnread;
    return isBehind ? Math.max(waiting, Date.now() - newestMs) : waiting;
  }

  /** The files that it follows, for those who delete them. */
  get files(): Iterable<FollowedFile> {
    return this.#files.all;
  }

  /**
   * Sends until `end` is called.
   *
   * @param until `once`: there is nothing new. `idle`: no living process has written for a while, and everything has
   *   arrived. Both also end if the target does not answer for longer, `once` at once if a setting must be changed.
   */
  async run(until: Until): Promise<void> {
    this.#until = until;
    const once = until === 'once';
    let busyAt = performance.now();
    try {
      while (!this.#isEnding) {
        const before = this.#read;
        await this.#round();
        this.#save();
        if (once && this.#read === before) break;
        const now = performance.now();
        const isBusy = this.#read !== before || !this.#files.areComplete;
        if (isBusy) busyAt = now;
        const isIdle = this.#onTheWay.inFlight === 0 && now - busyAt >= IDLE_MS;
        if (until === 'idle' && isIdle) break;
        if (!once) await this.#files.changed(LOOK_MS);
      }
      if (until === 'idle') this.end(LAST_TRY_MS);
      while (this.#onTheWay.inFlight > 0) await this.#oneSettled();
      await this.#flushStore();
    } catch (error) {
      if (!(error instanceof DeliveryEnded)) throw error;
    } finally {
      this.#silence.end();
      this.#files.close();
      this.#save(true);
      await this.target.close();
    }
  }

  /** Sends what is at hand and ends; what does not arrive in time stays for the next process. */
  end(limitMs: number): void {
    this.#isEnding = true;
    this.#files.wake();
    const inTrouble = this.#delivery.trouble !== undefined;
    this.#delivery.retryNow();
    setTimeout(
      () => {
        this.#delivery.end();
        this.#settled?.();
      },
      inTrouble ? LAST_TRY_MS : limitMs,
    ).unref();
  }

  /** Reads the settings of the target again. @throws TracewrightError if they are wrong. */
  reload(): void {
    this.target.reload?.();
    this.#delivery.retryNow();
  }

  /** Deletes a file that every target has. */
  delete(path: string): void {
    this.#files.delete(path);
    this.#checkpoint?.forget(this.target.label, path);
  }

  /** Spans read so far. */
  #read = 0;

  async #round(): Promise<void> {
    for (const file of this.#files.due()) {
      if (this.#isEnding) break;
      await this.#readFile(file);
    }
    this.#reportGone();
    await this.#emit();
    await this.#emitTails();
  }

  async #readFile(file: FollowedFile): Promise<void> {
    const { follower, path } = file;
    file.readAt = performance.now();
    let batches = 0;
    const ends = [...(this.#ends?.of(path) ?? [])];
    try {
      let at = follower.offset;
      let pausedAt = at;
      for (const span of follower.read()) {
        const { offset } = follower;
        if (offset - pausedAt >= PAUSE_BYTES) {
          pausedAt = offset;
          if (this.#isEnding) break;
          await otherTurn();
        }
        if (span === undefined) continue;
        this.#add(span, follower.counter, Math.max(offset - at, 100), path);
        at = offset;
        this.#read++;
        const isEnd = ends.length > 0 && isAmong(ends, [span.thread, follower.counter]);
        if (!isEnd && !this.#builder.isFull) continue;
        this.#builder.reach(path, follower.position);
        await this.#emit();
        if (++batches === TURN_BATCHES || this.#isEnding) {
          // It is read on in the next round, whether it changes or not.
          file.size = -1;
          return;
        }
      }
      file.size = follower.fileSize;
      file.failures = 0;
      if (this.#options.recovers === true && follower.hasDiedWithRings) {
        recoverDead(path, this.#options);
      }
    } catch (error) {
      if (error instanceof DeliveryEnded) throw error;
      file.size = follower.fileSize;
      // What is deleted is no fault: the next look sees that, and says what it had.
      if (hasCode(error, 'ENOENT')) return;
      // One bad file stops nobody else. It is read again after a while.
      if (file.failures++ === 0) this.#options.onFault(faultOf(path, error));
    }
    this.#builder.reach(path, follower.position);
    if (this.#ends !== undefined) await this.#endBatch(this.#ends, path);
  }

  /** Ends a batch where its file ends for now, and notes that: a longer file would give another batch. */
  async #endBatch(ends: BatchEnds, path: string): Promise<void> {
    const batch = this.#builder.take();
    if (batch === undefined) return;
    this.#tails.push(batch);
    const last = batch.spans.at(-1);
    if (last === undefined) return;
    ends.add(path, [last.thread, batch.counters.at(-1)!]);
    this.#checkpoint?.change(this.target.label, path);
    this.#tailSpans += batch.spans.length;
    if (this.#tailSpans >= MOST_TAIL_SPANS) await this.#emitTails();
  }

  async #emitTails(): Promise<void> {
    if (this.#tails.length === 0) return;
    if (this.#tailSpans > 0) this.#save(true);
    this.#tailSpans = 0;
    for (const batch of this.#tails.splice(0)) await this.#send(batch);
  }

  #add(span: SpanRecord, counter: number, bytes: number, path: string): void {
    const { accepts } = this.#options;
    if (accepts?.(span) === false) return;
    if (!hasValidIds(span)) {
      this.counts.invalid++;
      return;
    }
    if (span.resource !== undefined) span.resource = this.#resources.of(span.resource);
    this.#options.onSpan?.(span);
    this.#builder.add(span, path, counter, bytes);
  }

  /** Sends what was collected, once there is room for it. */
  async #emit(): Promise<void> {
    const batch = this.#builder.take();
    if (batch !== undefined) await this.#send(batch);
  }

  async #send(batch: PlacedBatch): Promise<void> {
    const since = performance.now();
    while (this.#onTheWay.inFlight >= this.#options.inFlight) await this.#oneSettled();
    if (batch.spans.length > 0) await this.#bandwidth.take(batch.bytes);
    void this.#deliver(this.#onTheWay.add(batch, since));
    await otherTurn();
  }

  async #deliver(sent: SentBatch): Promise<void> {
    try {
      await this.#delivery.deliver(sent.batch);
      const last = sent.batch.spans.at(-1);
      if (last !== undefined) {
        this.counts.newestMs = Math.max(this.counts.newestMs, Number(last.end / 1_000_000n));
      }
      this.#onTheWay.accept(sent, this.target.store === undefined);
    } catch (error) {
      if (!(error instanceof DeliveryEnded)) this.#options.onFault(faultOf('the target', error));
    }
    this.#settled?.();
  }

  async #flushStore(): Promise<void> {
    try {
      await this.target.store?.flush();
    } catch (error) {
      this.#options.onFault(faultOf(this.target.label, error));
    }
  }

  async #oneSettled(): Promise<void> {
    await new Promise<void>((resolve) => (this.#settled = resolve));
    this.#settled = undefined;
    this.#save();
    if (this.#delivery.hasEnded) throw new DeliveryEnded();
  }

  #save(isLast = false): void {
    const now = performance.now();
    if (!isLast && now - this.#savedAt < SAVE_MS) return;
    this.#savedAt = now;
    try {
      this.#checkpoint?.save();
    } catch (error) {
      // A full disk: it is tried again, and until then more is sent twice after a kill.
      this.#options.onFault(faultOf('--checkpoint', error));
    }
  }

  #reportGone(): void {
    for (const { path, follower, size, seenSize } of this.#files.gone.splice(0)) {
      const left = Math.max(size, seenSize) - follower.offset;
      this.#checkpoint?.forget(this.target.label, path);
      if (left <= 0 || follower.completeAt === seenSize) continue;
      this.counts.deletedBytes += left;
      this.#options.onMessage(
        `${path} was deleted with ${counted(left, 'byte')} that were not sent`,
      );
    }
  }
}

/** Answers come while files are read. */
function otherTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
