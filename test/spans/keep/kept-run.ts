import { statSync } from 'node:fs';
import { dumpLine } from '../../../src/heph/read/dump.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import type { KeepOptions } from '../../../src/spans/keep/keep-options.js';
import { startSpan } from '../../../src/spans/start-span.js';
import type { Span } from '../../../src/spans/span.js';
import type { SpanRecord } from '../../../src/spans/span-record.js';
import { lastingDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../span-trace.js';

const directory = lastingDirectory();
/** Longer than any request of these tests takes by itself, in milliseconds. */
export const SLOW = 60_000;

interface Run {
  spans: SpanRecord[];
  released: { count: number; errors: number; limited: number };
  bytes: number;
}

/** What is kept, and the counts of what is not. */
export async function kept(keep: KeepOptions, record: () => unknown): Promise<Run> {
  let path = '';
  const spans = await recorded(
    directory,
    (target) => {
      path = target;
      return record();
    },
    { keep: { limit: false, waitingBytes: 1 << 20, ...keep } },
  );
  const released = { count: 0, errors: 0, limited: 0 };
  for (const packet of readPackets(path)) {
    const line = dumpLine(packet);
    // Operations have counts of their own.
    if (!line.includes('tracewright.released') || line.includes('"below"')) continue;
    released.count += Number(/"count":u64=(\d+)/.exec(line)![1]);
    released.errors += Number(/"errors":u64=(\d+)/.exec(line)![1]);
    released.limited += Number(/"limited":u64=(\d+)/.exec(line)?.[1] ?? 0);
  }
  return { spans, released, bytes: statSync(path).size };
}

/** A request that has taken so many milliseconds already. */
export function began(ms: number, name = 'GET /x'): Span {
  return startSpan(name, { n: 1 }, { parent: null, kind: 'server', startTime: Date.now() - ms });
}

export function child(parent: Span, name = 'query'): Span {
  return startSpan(name, { text: 'select 1' }, { parent });
}

export function request(ms: number, failed: boolean): void {
  const root = began(ms);
  child(child(root)).end();
  child(root).end();
  if (failed) root.fail(new Error('no'));
  root.end();
}

export function tracesOf(spans: readonly SpanRecord[]): SpanRecord[][] {
  const traces = new Map<string, SpanRecord[]>();
  for (const span of spans) {
    const trace = traces.get(span.traceId) ?? [];
    traces.set(span.traceId, trace);
    trace.push(span);
  }
  return [...traces.values()];
}
