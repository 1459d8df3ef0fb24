import { TraceFormatError } from '../../core/errors.js';
import type { Finding, Progress } from '../../core/finding.js';
import { RepeatLimit } from '../../core/limit-findings.js';
import { END_TAG } from '../kernel-event-kinds.js';
import { readKernelEvents } from './kernel-reader.js';
import type { ReadKernelEventOptions } from './kernel-reader.js';
import { FETCH, LOAD, STORE } from '../layout.js';
import { ReferenceReader } from './reference-reader.js';
import type { ReadReferenceOptions } from './reference-reader.js';

const KNOWN_TYPES = [LOAD, STORE, FETCH].map((type) => type.charCodeAt(0));

/** Makes the findings of one trace, of each rule the first 20; counts the others. */
class Findings {
  readonly #path: string;
  readonly #limit = new RepeatLimit();
  readonly #severities = new Map<string, Finding['severity']>();

  constructor(path: string) {
    this.#path = path;
  }

  *add(
    severity: Finding['severity'],
    rule: string,
    offset: number,
    message: () => string,
  ): Generator<Finding, void> {
    this.#severities.set(rule, severity);
    if (!this.#limit.admits(rule)) return;
    yield { severity, rule, message: message(), path: this.#path, offset };
  }

  *unreadable(error: unknown): Generator<Finding, void> {
    if (!(error instanceof TraceFormatError)) throw error;
    const { offset, path } = error;
    // The finding says itself where it is.
    yield { severity: 'error', rule: 'unreadable', message: error.fault, path, offset };
  }

  rest(): Iterable<Finding> {
    return this.#limit.rest(this.#path, (rule) => this.#severities.get(rule)!);
  }
}

function backwards(timestamp: bigint, last: bigint): string {
  return `timestamp ${timestamp.toString(16)} lies before ${last.toString(16)} of the record in front of it`;
}

/**
 * Checks a reference trace. What cannot be read is an error. Warnings: timestamps that go backwards
 * (both traces share one cycle counter, and tools merge by it), and types other than `r`, `w`, `i`,
 * of which each is named once.
 */
export function* checkReferences(
  path: string,
  options: ReadReferenceOptions = {},
): Generator<Finding, void> {
  const findings = new Findings(path);
  const reader = new ReferenceReader(path, options);
  const seen = new Uint8Array(256);
  for (const type of KNOWN_TYPES) seen[type] = 1;
  let high = 0;
  let low = 0;
  let last = 0n;
  try {
    while (reader.next()) {
      const { offset, timestampHigh, timestampLow, type } = reader;
      if (timestampHigh < high || (timestampHigh === high && timestampLow < low)) {
        last = (BigInt(high) << 32n) | BigInt(low);
        const { timestamp } = reader;
        yield* findings.add('warning', 'timestamp-backwards', offset, () =>
          backwards(timestamp, last),
        );
      }
      high = timestampHigh;
      low = timestampLow;
      if (seen[type] === 0) {
        seen[type] = 1;
        yield* findings.add(
          'warning',
          'unknown-type',
          offset,
          () => `type ${JSON.stringify(String.fromCharCode(type))} is none of r, w, i`,
        );
      }
    }
  } catch (error) {
    yield* findings.unreadable(error);
  } finally {
    reader.close();
  }
  yield* findings.rest();
}

/** What checking a kernel trace can be told. */
export interface CheckKernelOptions extends ReadKernelEventOptions {
  onProgress?: Progress | undefined;
}

/**
 * Checks a kernel event trace. What cannot be read is an error, and so is a trace without its end
 * (`c`), which has lost events. A warning: timestamps that go backwards.
 */
export function* checkKernelEvents(
  path: string,
  options: CheckKernelOptions = {},
): Generator<Finding, void> {
  const findings = new Findings(path);
  let last = 0n;
  let ended = false;
  let offset = 0;
  try {
    for (const event of readKernelEvents(path, options)) {
      offset = event.offset;
      if (event.kind === 'end') {
        ended = true;
        continue;
      }
      const { timestamp } = event;
      const before = last;
      if (timestamp < last) {
        yield* findings.add('warning', 'timestamp-backwards', event.offset, () =>
          backwards(timestamp, before),
        );
      }
      last = timestamp;
    }
    if (!ended) {
      yield* findings.add(
        'error',
        'no-end',
        offset,
        () => `the trace ends without ${END_TAG}: it is not complete`,
      );
    }
  } catch (error) {
    yield* findings.unreadable(error);
  }
  yield* findings.rest();
}
