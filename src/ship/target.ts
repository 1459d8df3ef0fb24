import type { SpanRecord } from '../spans/span-record.js';

/** Spans that are sent together. They are of any number of processes. */
export interface ShipBatch {
  readonly spans: readonly SpanRecord[];
  /**
   * Of each span the file that it is in, and its counter in its stream (`thread` of the span). Together they name it:
   * they are the same whenever it is sent.
   */
  readonly producers: readonly string[];
  readonly counters: readonly number[];
}

/** Outcome of a batch. */
export type Outcome =
  /** The target has it; of some spans it may say that it refuses them for good. */
  | { kind: 'accepted'; refused?: { count: number; reason: string } }
  /**
   * Later it may go. `afterMs`: the target says when. `mayBeTooLarge`: some targets answer so to a body that is too
   * large.
   */
  | { kind: 'retry'; reason: string; afterMs?: number; mayBeTooLarge?: boolean }
  /** A smaller one may go. */
  | { kind: 'tooLarge'; reason: string }
  /** Something in it is refused for good. */
  | { kind: 'refused'; reason: string }
  /** No batch can go until somebody changes a setting: credentials, an address, a certificate. */
  | { kind: 'stopped'; reason: string };

/**
 * Where spans are sent. A target only sends: waiting, repeating, splitting and giving up are the same for all, in
 * delivery.ts.
 */
export interface ShipTarget {
  /** Names it in messages, metrics and the checkpoint: without user, password or query. */
  readonly label: string;
  /** Whether nothing is sent: spans are only counted. */
  readonly isNowhere?: boolean;
  /** Whether the target knows a batch that it has, if its spans are cut as before. */
  readonly knowsRepeats?: boolean;
  /** Of a target that collects what it has accepted, and stores it later. */
  readonly store?: TargetStore;
  /**
   * Sends a batch once.
   *
   * @param signal ends the attempt.
   * @returns what became of it. It never throws for what the network or the target does.
   */
  send(batch: ShipBatch, signal: AbortSignal): Promise<Outcome>;
  /** Reads settings again that a person has changed, after a signal. @throws TracewrightError if they are wrong. */
  reload?(): void;
  close(): Promise<void>;
}

/** Takes what is read, and sends it nowhere. */
export const NOWHERE: ShipTarget = {
  label: 'metrics',
  isNowhere: true,
  send: () => Promise.resolve({ kind: 'accepted' }),
  close: () => Promise.resolve(),
};

/** A file that is complete, and gets its name once the checkpoint says that it is. */
export interface UnnamedFile {
  from: string;
  to: string;
}

/** Keeps what a target has accepted, until it is stored. */
export interface TargetStore {
  /**
   * @param unnamed files that the checkpoint of an earlier process says are complete.
   * @param onComplete notes in the checkpoint that everything that was accepted is in these files.
   */
  begin(unnamed: readonly UnnamedFile[], onComplete: (files: readonly UnnamedFile[]) => void): void;
  /** Stores what was accepted, now. */
  flush(): Promise<void>;
}
