import { RepeatLimit } from '../../core/finding.js';
import type { Finding } from '../../core/finding.js';

/** How severe a breach is: for every version, or an error for version 3 and a warning for version 1. */
const ERROR = ['error', 'error'] as const;
const ERROR_OF_3 = ['warning', 'error'] as const;
const WARNING = ['warning', 'warning'] as const;

/** The rules by which a trace is checked. */
const rules = {
  /** A metadata file, a name or a table is not as the format requires. */
  metadata: ERROR,
  'application-id': ERROR,
  rank: ERROR,
  /** The CPUs of a loom: missing, with gaps, or twice. */
  cpus: ERROR,
  'cpu-phyid': ERROR_OF_3,
  'loom-name': ERROR_OF_3,
  library: ERROR_OF_3,
  'not-finished': ERROR_OF_3,
  'required-model': ERROR_OF_3,
  'mark-type': ERROR_OF_3,
  'clock-offsets': ERROR_OF_3,
  'clock-gap': ERROR_OF_3,
  /** The stream's header, or an event that is cut off. */
  stream: ERROR,
  'empty-stream': ERROR,
  'clock-backwards': ERROR_OF_3,
  /** The emulator reads the stream once ovnisort has sorted it. */
  'unordered-region': ERROR_OF_3,
  'jumbo-size': ERROR,
  'unknown-model': ERROR_OF_3,
  'model-not-required': ERROR_OF_3,
  'undeclared-event': ERROR_OF_3,
  /** Accepted, but ignored by the emulator. */
  'ignored-event': WARNING,
  payload: ERROR,
  'payload-extra': WARNING,
  'label-length': ERROR,
  'thread-state': ERROR,
  'thread-not-ended': ERROR_OF_3,
  /** An event of a model that the thread may not emit in its state. */
  'thread-not-active': ERROR_OF_3,
  'out-of-cpu': ERROR_OF_3,
  'cpu-unknown': ERROR,
  'cpu-busy': ERROR_OF_3,
  affinity: ERROR,
  flush: ERROR,
  mark: ERROR_OF_3,
  'mark-left': WARNING,
  /** Regions and progress states of the runtimes' models. */
  region: ERROR_OF_3,
  'region-left': WARNING,
  task: ERROR_OF_3,
  /** Hardware counters of nosv. */
  counters: ERROR_OF_3,
} as const;

export type Rule = keyof typeof rules;

/** Characters of a message: names in a hostile trace may be as long as its files. */
const MAX_MESSAGE = 2000;

/** Collects findings, of each rule only the first few. */
export class FindingCollector {
  /** The version whose severities apply; to be set before the first `take`. */
  version: 1 | 3 = 3;
  readonly #limit: RepeatLimit;
  #findings: (Omit<Finding, 'severity'> & { rule: Rule })[] = [];

  /** @param repeats findings of one rule that are kept; default 20. */
  constructor(repeats?: number) {
    this.#limit = new RepeatLimit(repeats);
  }

  /** Adds a finding. A message that is a function is called only if the finding is kept. */
  report(rule: Rule, path: string, message: string | (() => string), offset?: number): void {
    if (!this.#limit.admits(rule)) return;
    const text = typeof message === 'string' ? message : message();
    this.#findings.push({
      rule,
      message: text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text,
      path,
      offset,
    });
  }

  /** The findings since the last call. */
  take(): Finding[] {
    const findings = this.#findings;
    this.#findings = [];
    return findings.map((finding) => ({ severity: this.#severity(finding.rule), ...finding }));
  }

  /** One finding for each rule with more findings than are kept. */
  rest(path: string): Iterable<Finding> {
    return this.#limit.rest(path, (rule) => this.#severity(rule as Rule));
  }

  #severity(rule: Rule): Finding['severity'] {
    return rules[rule][this.version === 1 ? 0 : 1];
  }
}
