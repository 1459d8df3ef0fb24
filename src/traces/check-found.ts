import { TraceFormatError } from '../core/errors.js';
import { faultOf } from '../core/fault.js';
import type { Finding } from '../core/finding.js';
import type { FoundTrace } from './find-traces.js';
import { RemainingRings, Writers } from './remaining-rings.js';
import type { JobOptions } from '../rows/trace-format.js';
import { TraceViews } from './trace-views.js';

/** A check that was started: live processes that write the trace, as found before it is read. */
interface StartedCheck {
  writers: { readonly pids: readonly number[] };
  findings: Iterable<Finding>;
}

/** Checks traces, also those that processes are writing. */
export class TraceChecker {
  readonly #rings = new RemainingRings();
  readonly #ringDirs: readonly string[] | undefined;

  /** @param ringDirs checks traces as their rings complete them; undefined: the files alone. */
  constructor(ringDirs?: readonly string[]) {
    this.#ringDirs = ringDirs;
  }

  /** Starts the check of one trace. */
  check(trace: FoundTrace, options: JobOptions): StartedCheck {
    const { writers, findings } = this.#start(trace, options);
    return { writers, findings: withFault(trace.path, findings) };
  }

  #start(trace: FoundTrace, options: JobOptions): StartedCheck {
    if (this.#ringDirs !== undefined) return this.#checkWithRings(trace, options, this.#ringDirs);
    const rings = [...this.#rings.of(trace)];
    const writers = new Writers(rings);
    return { writers, findings: this.#findings(trace, writers, options) };
  }

  #checkWithRings(
    trace: FoundTrace,
    options: JobOptions,
    ringDirs: readonly string[],
  ): StartedCheck {
    const { format, path } = trace;
    const views = new TraceViews(ringDirs);
    const view = views.show(trace);
    const pids = view?.pids ?? [];
    function* findings(): Generator<Finding, void> {
      try {
        for (const finding of format.check(path, options)) {
          if (pids.length === 0 || !format.unfinishedRules.includes(finding.rule)) yield finding;
        }
        for (const fault of view?.faults ?? []) {
          const isOfFile = fault instanceof TraceFormatError && !format.rings.isRing(fault.path);
          if (isOfFile) yield damaged(fault);
          else yield { severity: 'warning', rule: 'ring-left', message: fault.message, path };
        }
      } finally {
        views.close();
      }
    }
    return { writers: { pids }, findings: findings() };
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
    for (const loss of format.lossesOf?.(path) ?? []) yield damaged(loss);
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

/** A finding about a file that a reader opens: it has lost something, or does not fit its ring. */
function damaged({ path, offset, fault }: TraceFormatError): Finding {
  return { severity: 'error', rule: 'damaged', message: fault, path, offset };
}

/** Passes findings on. A fault that stops the check is the last of them. */
function* withFault(path: string, findings: Iterable<Finding>): Generator<Finding, void> {
  try {
    yield* findings;
  } catch (error) {
    const fault = faultOf(path, error);
    const unreadable = { severity: 'error', rule: 'unreadable' } as const;
    if (fault instanceof TraceFormatError) {
      yield { ...unreadable, message: fault.fault, path: fault.path, offset: fault.offset };
    } else {
      yield { ...unreadable, message: fault.message, path };
    }
  }
}
