import { TraceFormatError } from './errors.js';

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
