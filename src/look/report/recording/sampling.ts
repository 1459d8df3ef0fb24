import { isRequest } from '../../index/index-row.js';
import { REMOTE_PARENT_BIT } from '../../index/look-index.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { isInterruption } from '../names/interruption-kinds.js';
import type { ReportSource } from '../shape/report-shape.js';

/** Services between the one that decides and one that follows. */
const MOST_STEPS = 8;
/** Rows of one step. */
const PIECE = 1 << 16;

/** Who decides which traces of a source are recorded. */
interface Deciders {
  /** Its process, for those that begin there. */
  itself: boolean;
  /** Callers that are recorded: numbers of sources. */
  callers: Set<number>;
  /** Callers that are not. */
  others: boolean;
}

/** Which share of their traces services record, as far as the recording says it. */
export class Sampling {
  readonly #deciders = new Map<number, Deciders>();
  /** By number of a source: the ratio, or null if it is sampled and nobody knows by which. Absent: all is recorded. */
  readonly #ratios = new Map<number, number | null>();
  readonly #ofServices = new Map<string | null, number | null>();

  static *of(index: LookIndex): Steps<Sampling> {
    const sampling = new Sampling();
    const { sources, parts } = index;
    if (sources.every(({ sampled }) => sampled === 1)) return sampling;
    for (const { number } of sources) {
      sampling.#deciders.set(number, { itself: false, callers: new Set(), others: false });
    }
    for (const part of parts) yield* sampling.#addDeciders(index, part);
    for (const { number, service = null, format } of sources) {
      const ratio = sampling.#ratioOf(index, number);
      if (ratio !== 1) sampling.#ratios.set(number, ratio);
      if (format === 'ovni') continue;
      const known = sampling.#ofServices.get(service);
      sampling.#ofServices.set(service, known === undefined || known === ratio ? ratio : null);
    }
    return sampling;
  }

  of(source: number): ReportSource['sampled'] {
    const ratio = this.#ratios.get(source);
    return ratio === undefined ? null : { ratio };
  }

  /** How many spans of a group there were for each that is recorded; 1: all, or nobody knows. */
  weightOf({ name, service }: { name: string; service: string | null }): number {
    // What a thread records of itself belongs to no trace that could be left out.
    return isInterruption(name) ? 1 : 1 / (this.#ofServices.get(service) ?? 1);
  }

  /** Those who decide about the traces of a source: itself, callers, and the callers of these. */
  #ratioOf({ sources }: LookIndex, source: number): number | null {
    const sampledOf = (wanted: number): number =>
      sources.find(({ number }) => number === wanted)!.sampled;
    const ratios = new Set<number | null>();
    const seen = new Set([source]);
    let waiting = [source];
    for (let step = 0; waiting.length > 0 && step < MOST_STEPS; step++) {
      const next: number[] = [];
      for (const number of waiting) {
        const { itself, callers, others } = this.#deciders.get(number)!;
        const own = sampledOf(number);
        if (itself || (callers.size === 0 && !others)) ratios.add(own);
        // Whether these record all of their traces is not known.
        if (others) ratios.add(own === 1 ? 1 : null);
        for (const caller of callers) {
          if (seen.has(caller)) continue;
          seen.add(caller);
          next.push(caller);
        }
      }
      waiting = next;
    }
    const [first = 1, ...further] = ratios;
    return further.length > 0 ? null : first;
  }

  *#addDeciders(index: LookIndex, part: IndexPart): Steps<void> {
    const { flags, parent, count, firstRow, source } = part;
    const deciders = this.#deciders.get(source.number)!;
    for (let at = 0; at < count; at++) {
      if (at % PIECE === 0) yield;
      if (!isRequest(flags[at]!)) continue;
      const caller = parent[at]!;
      if ((flags[at]! & REMOTE_PARENT_BIT) === 0) deciders.itself ||= caller < 0;
      else if (caller < 0) deciders.others = true;
      else if (caller < firstRow || caller >= firstRow + count) {
        deciders.callers.add(index.partOf(caller).source.number);
      }
    }
  }
}
