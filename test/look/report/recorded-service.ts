import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { makeReport } from '../../../src/look/report/report.js';
import type { ReportWithRows, ReportOptions } from '../../../src/look/report/report.js';
import type { SpanRecord } from '../../../src/spans/span-record.js';
import { startSpan } from '../../../src/spans/start-span.js';
import type { SpanOptions } from '../../../src/spans/recording.js';
import { lastingDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../../spans/span-trace.js';

const directory = lastingDirectory();
let files = 0;

/** What `record` leaves in a trace of its own: its path, and its spans. */
export async function recording(
  record: () => unknown,
  options: SpanOptions = {},
): Promise<{ path: string; spans: SpanRecord[] }> {
  const own = join(directory, String(++files));
  mkdirSync(own);
  let path = '';
  const spans = await recorded(
    own,
    (target) => {
      path = target;
      return record();
    },
    options,
  );
  return { path, spans };
}

/** A report on some traces. */
export async function reportOn(
  paths: readonly string[],
  options: ReportOptions = {},
): Promise<ReportWithRows> {
  const index = await openLookIndex(paths);
  try {
    return await makeReport(index, options);
  } finally {
    index.close();
  }
}

/** Numbers from 0 to 1 that are the same in every run. */
export function* seededNumbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    yield state / 0x7fffffff;
  }
}

const ROUTES = ['/orders/:id', '/cart', '/search', '/health'];

/** Requests of several routes, of which some fail, each with a query, over ten seconds from now on. */
export function serviceRequests(count: number): void {
  const numbers = seededNumbers(7);
  const begin = BigInt(Date.now()) * 1_000_000n;
  for (let i = 0; i < count; i++) {
    const route = ROUTES[Math.floor(4 * numbers.next().value ** 2)]!;
    const start = begin + BigInt(Math.floor((i / count) * 10e9));
    // From microseconds to seconds.
    const length = BigInt(Math.floor(1000 * 10 ** (6 * numbers.next().value ** 3)));
    const attributes = { 'http.route': route, user: i % 10 };
    const request = startSpan(`GET ${route}`, attributes, {
      kind: 'server',
      parent: null,
      startTime: start,
    });
    const query = startSpan('SELECT', {}, { kind: 'client', parent: request, startTime: start });
    query.end(start + length / 2n);
    if (numbers.next().value < 0.05) request.fail(new Error('no'));
    request.end(start + length);
  }
}
