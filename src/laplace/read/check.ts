import { findingOf, RepeatLimit } from '../../core/finding.js';
import type { Finding, Progress } from '../../core/finding.js';
import { ownOptions } from '../../core/options/argument.js';
import { END_TAG } from '../kernel-event-kinds.js';
import { FETCH, LOAD, STORE } from '../layout.js';
import { readKernelEvents } from './kernel-reader.js';
import type { ReadKernelEventOptions } from './kernel-reader.js';
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

  rest(): Iterable<Finding> {
    return this.#limit.rest(this.#path, (rule) => this.#severities.get(rule)!);
  }
}

function backwards(timestamp: bigint, last: bigint): string {
  return `timestamp ${timestamp.toString(16)} is before ${last.toString(16)}, the timestamp of the previous record`;
}

/**
 * Checks a reference trace. Content that cannot be read is an error. Warnings are timestamps that go
 * backwards, because tools merge both traces by their common cycle counter, and types other than
 * `r`, `w` and `i`, each reported once.
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
          () => `type ${JSON.stringify(String.fromCharCode(type))} is not one of r, w, i`,
        );
      }
    }
  } catch (error) {
    yield findingOf('unreadable', error);
  } finally {
    reader.close();
  }
  yield* findings.rest();
}

/** Options of `checkKernelEvents`. */
export interface CheckKernelOptions extends ReadKernelEventOptions {
  onProgress?: Progress | undefined;
}

/**
 * Checks a kernel event trace. Content that cannot be read is an error. So is a missing end (`c`): the
 * trace has lost events. Warnings are timestamps that go backwards, a CR in a text, tags that the catalog does not
 * have, each reported once, and an end without a newline.
 */
export function* checkKernelEvents(
  path: string,
  options: CheckKernelOptions = {},
): Generator<Finding, void> {
  options = ownOptions(options, ['onProgress']);
  const findings = new Findings(path);
  let last = 0n;
  let ended = false;
  let offset = 0;
  let size = 0;
  const seen = new Set<string>();
  const onProgress: Progress = (done, total) => {
    size = total;
    options.onProgress?.(done, total);
  };
  try {
    for (const event of readKernelEvents(path, { onProgress })) {
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
      const text = 'fileName' in event ? event.fileName : event.kind === 'event' ? event.rest : '';
      if (text.includes('\r')) {
        yield* findings.add(
          'warning',
          event.kind === 'event' ? 'text' : 'file-name',
          event.offset,
          () =>
            `a ${event.kind === 'event' ? 'text' : 'file name'} contains a CR; readers that know lines with CR LF lose it`,
        );
      }
      if (event.kind === 'event' && !seen.has(event.tag)) {
        seen.add(event.tag);
        yield* findings.add(
          'warning',
          'unknown-tag',
          event.offset,
          () => `tag ${JSON.stringify(event.tag)} is not one of the catalog`,
        );
      }
    }
    if (ended && size === offset + END_TAG.length) {
      yield* findings.add(
        'warning',
        'end-newline',
        offset,
        () => `the end (${END_TAG}) has no newline; readers of whole lines miss it`,
      );
    }
    if (!ended) {
      yield* findings.add(
        'error',
        'no-end',
        offset,
        () => `the trace is incomplete: its end (${END_TAG}) is missing`,
      );
    }
  } catch (error) {
    yield findingOf('unreadable', error);
  }
  yield* findings.rest();
}
