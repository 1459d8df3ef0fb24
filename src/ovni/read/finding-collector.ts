import type { Finding } from '../../core/finding.js';
import { RepeatLimit } from '../../core/limit-findings.js';

/** The rules by which a trace is checked, with the severity of a breach for each version. */
const rules = {
  /** A metadata file, a name or a table is not as the format requires. */
  metadata: { version1: 'error', version3: 'error' },
  'application-id': { version1: 'error', version3: 'error' },
  rank: { version1: 'error', version3: 'error' },
  /** The CPUs of a loom: missing, with gaps, or twice. */
  cpus: { version1: 'error', version3: 'error' },
  'cpu-phyid': { version1: 'warning', version3: 'error' },
  'loom-name': { version1: 'warning', version3: 'error' },
  library: { version1: 'warning', version3: 'error' },
  'not-finished': { version1: 'warning', version3: 'error' },
  'required-model': { version1: 'warning', version3: 'error' },
  'mark-type': { version1: 'warning', version3: 'error' },
  'clock-offsets': { version1: 'warning', version3: 'error' },
  'clock-gap': { version1: 'warning', version3: 'error' },
  /** The stream's header, or an event that is cut off. */
  stream: { version1: 'error', version3: 'error' },
  'empty-stream': { version1: 'error', version3: 'error' },
  'clock-backwards': { version1: 'warning', version3: 'error' },
  'jumbo-size': { version1: 'error', version3: 'error' },
  'unknown-model': { version1: 'warning', version3: 'error' },
  'model-not-required': { version1: 'warning', version3: 'error' },
  'undeclared-event': { version1: 'warning', version3: 'error' },
  /** Accepted, but ignored by the emulator. */
  'ignored-event': { version1: 'warning', version3: 'warning' },
  payload: { version1: 'error', version3: 'error' },
  'payload-extra': { version1: 'warning', version3: 'warning' },
  'label-length': { version1: 'error', version3: 'error' },
  'thread-state': { version1: 'error', version3: 'error' },
  'thread-not-ended': { version1: 'warning', version3: 'error' },
  /** An event of a model that the thread may not emit in its state. */
  'thread-not-active': { version1: 'warning', version3: 'error' },
  'out-of-cpu': { version1: 'warning', version3: 'error' },
  'cpu-unknown': { version1: 'error', version3: 'error' },
  'cpu-busy': { version1: 'warning', version3: 'error' },
  affinity: { version1: 'error', version3: 'error' },
  flush: { version1: 'error', version3: 'error' },
  mark: { version1: 'warning', version3: 'error' },
  'mark-left': { version1: 'warning', version3: 'warning' },
  /** Regions and progress states of the runtimes' models. */
  region: { version1: 'warning', version3: 'error' },
  'region-left': { version1: 'warning', version3: 'warning' },
  task: { version1: 'warning', version3: 'error' },
  /** Hardware counters of nosv. */
  counters: { version1: 'warning', version3: 'error' },
} as const satisfies Record<
  string,
  { version1: Finding['severity']; version3: Finding['severity'] }
>;

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
      ...(offset === undefined ? {} : { offset }),
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
    return rules[rule][this.version === 1 ? 'version1' : 'version3'];
  }
}
