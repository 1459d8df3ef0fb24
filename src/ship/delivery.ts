import { setTimeout as sleep } from 'node:timers/promises';
import { halvesOf } from './batch.js';
import type { Outcome, ShipBatch, ShipTarget } from './target.js';

/** Delays between attempts, in milliseconds: they double. */
const FIRST_DELAY_MS = 500;
const MOST_DELAY_MS = 30_000;
/** A target that asks for more is asked again after this time. */
const MOST_RETRY_AFTER_MS = 600_000;
/** A stopped target is asked once in this time, in milliseconds. */
const PROBE_MS = 60_000;
/** So often a batch fails before a smaller one is tried. */
const FAILURES_BEFORE_SMALLER = 3;
/** After so many batches a larger one is tried again. */
const GROW_AFTER = 50;

/** Events of batches, for messages and metrics. */
interface DeliveryEvents {
  /** A target that answered no longer does, or cannot take anything until a setting is changed. */
  onTrouble?(reason: string, isStopped: boolean): void;
  /** It answers again. */
  onWell?(): void;
  /** Spans are refused for good. `batch`: which ones, if the target says so. */
  onRefused?(count: number, reason: string, batch: ShipBatch | undefined): void;
  onSent?(spans: number): void;
  onRetry?(): void;
}

interface DeliveryOptions extends DeliveryEvents {
  probeMs?: number | undefined;
  firstDelayMs?: number | undefined;
}

/** The delivery was ended before a batch was taken. */
export class DeliveryEnded extends Error {}

/**
 * Sends batches to one target until each is accepted or refused for good. While a target fails, one batch at a time
 * asks whether it is well again.
 */
export class Delivery {
  readonly #target: ShipTarget;
  readonly #options: DeliveryOptions;
  readonly #ended = new AbortController();
  /** Undefined: the target answers. */
  #trouble: { reason: string; isStopped: boolean; failures: number; until: number } | undefined;
  /** The batch that asks. */
  #asking: Promise<unknown> | undefined;
  /** Ends the delay before the next attempt. */
  #sooner: AbortController | undefined;
  /** Batches that were accepted. */
  #accepted = 0;
  /** Spans of a batch at most, since a larger one was refused as too large. */
  #mostSpans = Infinity;
  /** The same, since a smaller one passed. It grows again: the target may only have failed for a while. */
  #triedSpans = Infinity;

  constructor(target: ShipTarget, options: DeliveryOptions = {}) {
    this.#target = target;
    this.#options = options;
  }

  /** Why nothing can be sent now; undefined: the target answers. */
  get trouble(): { reason: string; isStopped: boolean } | undefined {
    return this.#trouble;
  }

  get hasEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  /**
   * Sends a batch, however often it takes.
   *
   * @param since batches that were accepted before a larger one, of which this is a part, failed.
   * @throws DeliveryEnded after `end`.
   */
  async deliver(batch: ShipBatch, since = this.#accepted): Promise<void> {
    const count = batch.spans.length;
    if (count === 0) return;
    if (count > Math.min(this.#mostSpans, this.#triedSpans))
      return this.#deliverHalves(batch, since);
    let failures = 0;
    for (;;) {
      const outcome = await this.#attempt(batch);
      switch (outcome.kind) {
        case 'accepted': {
          const { refused } = outcome;
          if (refused !== undefined) {
            this.#options.onRefused?.(refused.count, refused.reason, undefined);
          }
          if (++this.#accepted % GROW_AFTER === 0) this.#triedSpans *= 2;
          this.#options.onSent?.(count - (refused?.count ?? 0));
          return;
        }
        case 'retry':
          failures++;
          if (outcome.mayBeTooLarge !== true || failures < FAILURES_BEFORE_SMALLER) break;
          if (count > 1) {
            // The smaller one is tried at once, and not after all the time that the larger one has waited.
            if (this.#trouble !== undefined) this.#trouble.failures = 0;
            this.retryNow();
            return this.#deliverHalves(batch, since, 'supposed');
          }
          // Others passed meanwhile: it is this span.
          if (this.#accepted === since) break;
          this.#refuse(batch, outcome.reason);
          return;
        case 'tooLarge':
        case 'refused':
          if (count === 1) {
            this.#refuse(batch, outcome.reason);
            return;
          }
          return this.#deliverHalves(
            batch,
            since,
            outcome.kind === 'tooLarge' ? 'said' : undefined,
          );
        case 'stopped':
          break;
      }
    }
  }

  /** Tries again at once, after somebody has changed a setting. */
  retryNow(): void {
    if (this.#trouble !== undefined) this.#trouble.until = 0;
    this.#sooner?.abort();
  }

  /** Ends all attempts. */
  end(): void {
    this.#ended.abort();
  }

  #refuse(batch: ShipBatch, reason: string): void {
    this.#options.onRefused?.(batch.spans.length, reason, batch);
  }

  /** @param tooLarge whether the target has said that the batch is too large, or it is supposed. */
  async #deliverHalves(
    batch: ShipBatch,
    since: number,
    tooLarge?: 'said' | 'supposed',
  ): Promise<void> {
    const [first, second] = halvesOf(batch);
    if (tooLarge === 'said') this.#mostSpans = Math.min(this.#mostSpans, second.spans.length);
    await this.deliver(first, since);
    if (tooLarge === 'supposed') this.#triedSpans = Math.min(this.#triedSpans, first.spans.length);
    await this.deliver(second, since);
  }

  /** One attempt. In trouble, the only one of all batches, after a delay. */
  async #attempt(batch: ShipBatch): Promise<Outcome> {
    for (;;) {
      const trouble = this.#trouble;
      if (trouble === undefined) return this.#send(batch);
      const other = this.#asking;
      if (other !== undefined) {
        await other;
        continue;
      }
      const asking = this.#ask(batch, trouble.until);
      // It never rejects: those who wait for it look at the trouble again.
      this.#asking = asking.catch(() => undefined);
      try {
        return await asking;
      } finally {
        this.#asking = undefined;
      }
    }
  }

  async #ask(batch: ShipBatch, until: number): Promise<Outcome> {
    await this.#wait(until - performance.now());
    this.#options.onRetry?.();
    return this.#send(batch);
  }

  async #send(batch: ShipBatch): Promise<Outcome> {
    const { signal } = this.#ended;
    if (signal.aborted) throw new DeliveryEnded();
    const outcome = await this.#target.send(batch, signal);
    if (this.hasEnded && outcome.kind !== 'accepted') throw new DeliveryEnded();
    if (outcome.kind === 'retry' || outcome.kind === 'stopped') this.#fail(outcome);
    else this.#succeed();
    return outcome;
  }

  #fail(outcome: Extract<Outcome, { kind: 'retry' | 'stopped' }>): void {
    const { probeMs = PROBE_MS, firstDelayMs = FIRST_DELAY_MS } = this.#options;
    const before = this.#trouble;
    const isStopped = outcome.kind === 'stopped';
    const failures = (before?.failures ?? 0) + 1;
    let delay = probeMs;
    if (outcome.kind === 'retry') {
      const backoff = Math.min(MOST_DELAY_MS, firstDelayMs * 2 ** (failures - 1));
      const { afterMs } = outcome;
      // Many shippers must not come back at the same moment.
      delay =
        afterMs === undefined
          ? backoff * (0.5 + Math.random() / 2)
          : Math.min(afterMs, MOST_RETRY_AFTER_MS);
    }
    const { reason } = outcome;
    this.#trouble = { reason, isStopped, failures, until: performance.now() + delay };
    if (before?.isStopped !== isStopped) this.#options.onTrouble?.(reason, isStopped);
  }

  #succeed(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    this.#options.onWell?.();
  }

  async #wait(ms: number): Promise<void> {
    const sooner = (this.#sooner = new AbortController());
    const signal = AbortSignal.any([sooner.signal, this.#ended.signal]);
    try {
      await sleep(Math.max(0, ms), undefined, { signal });
    } catch {
      if (this.hasEnded) throw new DeliveryEnded();
    }
  }
}
