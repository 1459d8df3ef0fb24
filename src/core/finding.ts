import { counted } from './readable-text.js';
import { TraceFormatError } from './errors.js';
import { limitFrom } from './options/argument.js';

/** One thing that `check` found: what a format's own reader would refuse, or would read otherwise than meant. */
export interface Finding {
  /** `error`: the format's reader rejects the trace. `warning`: it accepts it, but something is amiss. */
  severity: 'error' | 'warning';
  /** The rule in a few words that stay the same from release to release: `clock-backwards`. */
  rule: string;
  /** A sentence for a person. */
  message: string;
  /** The file at fault. */
  path: string;
  /** Bytes from the start of that file, where the fault has one. */
  offset?: number | undefined;
}

export function warningOf(path: string, rule: string, message: string, offset?: number): Finding {
  return { severity: 'warning', rule, message, path, offset };
}

/** The error of a reader as a finding, which has the path and the offset of its own; throws any other. */
export function findingOf(rule: string, error: unknown): Finding {
  if (!(error instanceof TraceFormatError)) throw error;
  const { fault: message, path, offset } = error;
  return { severity: 'error', rule, message, path, offset };
}

/** Reports to the caller how far a long job is: bytes done, bytes in all. */
export type Progress = (done: number, total: number) => void;

/** Findings of one rule that a check yields before it only counts the rest. */
const DEFAULT_REPEATS = 20;

/** Options of the formats' `checkTrace`. */
export interface CheckOptions {
  /** Called now and then with the bytes checked so far and the bytes in total. */
  onProgress?: Progress | undefined;
  /** Findings of one rule that are yielded before the rest is only counted; default 20. */
  repeats?: number;
}

/** Counts the findings of each rule, and says which of them are still to be reported. */
export class RepeatLimit {
  readonly #repeats: number;
  readonly #counts = new Map<string, number>();

  constructor(repeats = DEFAULT_REPEATS) {
    this.#repeats = limitFrom('repeats', repeats, 0);
  }

  /** Counts one finding; false when its rule has been reported often enough. */
  admits(rule: string): boolean {
    const count = (this.#counts.get(rule) ?? 0) + 1;
    this.#counts.set(rule, count);
    return count <= this.#repeats;
  }

  /** One finding for each rule of which some were not reported. */
  *rest(path: string, severityOf: (rule: string) => Finding['severity']): Generator<Finding, void> {
    for (const [rule, count] of this.#counts) {
      const more = count - this.#repeats;
      if (more <= 0) continue;
      const message = `${counted(more, 'more finding')} of this rule`;
      yield { severity: severityOf(rule), rule, message, path };
    }
  }
}

/**
 * Passes on the first findings of each rule, then one finding for each rule that had more.
 *
 * @param path the trace that is checked; the closing findings name it.
 */
export function* limitFindings(
  findings: Iterable<Finding>,
  path: string,
  repeats?: number,
): Generator<Finding, void> {
  const limit = new RepeatLimit(repeats);
  const severities = new Map<string, Finding['severity']>();
  for (const finding of findings) {
    severities.set(finding.rule, finding.severity);
    if (limit.admits(finding.rule)) yield finding;
  }
  yield* limit.rest(path, (rule) => severities.get(rule)!);
}
