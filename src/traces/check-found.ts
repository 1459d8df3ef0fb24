import type { Finding } from '../core/finding.js';
import type { FoundTrace } from './find-traces.js';
import { RemainingRings, Writers } from './remaining-rings.js';
import type { JobOptions } from './trace-format.js';

/** Checks traces, also those that processes are writing. */
export class TraceChecker {
  readonly #rings = new RemainingRings();

  /**
   * Starts the check of one trace.
   *
   * @returns the findings; and who writes the trace, as found before it is read.
   */
  check(trace: FoundTrace, options: JobOptions): { writers: Writers; findings: Iterable<Finding> } {
    const rings = [...this.#rings.of(trace)];
    const writers = new Writers(rings);
    return { writers, findings: this.#findings(trace, writers, options) };
  }

  *#findings(trace: FoundTrace, writers: Writers, options: JobOptions): Generator<Finding, void> {
    const { format, path } = trace;
    const isBeingWritten = (file: string): boolean => writers.write(file);
    for (const finding of format.check(path, { ...options, isBeingWritten })) {
      const { rule, offset } = finding;
      const mayChange =
        writers.pids.length > 0 &&
        (format.unfinishedRules.includes(rule) ||
          (offset !== undefined && writers.mayChange(finding.path, offset)));
      if (!mayChange) yield finding;
    }
    yield* this.#ringFindings(trace, writers);
  }

  *#ringFindings(trace: FoundTrace, writers: Writers): Generator<Finding, void> {
    const { path } = trace;
    if (writers.pids.length > 0) {
      const message = `${writers.description} writing this trace: its latest records and its end were not checked`;
      yield { severity: 'warning', rule: 'being-written', message, path };
    }
    for (const ring of this.#rings.of(trace)) {
      if (ring.writer !== undefined) continue;
      const message =
        ring.fault === undefined
          ? 'this ring contains a part of the trace, whose process was killed: ' +
            'complete the trace with `tracewright recover`'
          : `this ring may contain a part of the trace: ${ring.fault}`;
      yield { severity: 'warning', rule: 'ring-left', message, path: ring.path };
    }
  }
}
