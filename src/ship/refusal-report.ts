import { counted } from '../core/counted.js';
import type { RefusedSpans } from './refused-spans.js';
import type { ShipBatch } from './target.js';

/** Reasons that are said, each once. */
const MOST_REASONS = 20;

/** Keeps what a target refuses for good, and says each reason once. */
export class RefusalReport {
  readonly #label: string;
  readonly #kept: RefusedSpans | undefined;
  readonly #say: (text: string) => void;
  readonly #reasons = new Set<string>();

  /** @param label of the target. */
  constructor(label: string, kept: RefusedSpans | undefined, say: (text: string) => void) {
    this.#label = label;
    this.#kept = kept;
    this.#say = say;
  }

  /** @param batch undefined: nobody knows which spans they are. */
  add(count: number, reason: string, batch: ShipBatch | undefined): void {
    const isKept = batch !== undefined && this.#kept?.add(this.#label, reason, batch) === true;
    if (this.#reasons.has(reason) || this.#reasons.size === MOST_REASONS) return;
    this.#reasons.add(reason);
    const kept = isKept ? '; kept in the directory of --refused' : '';
    this.#say(`refuses ${counted(count, 'span')} for good: ${reason}${kept}`);
  }
}
