import { join } from 'node:path';
import { configure, shutdown, startSpan } from '../../src/spans/index.js';
import type { SpanStatus } from '../../src/spans/layout.js';

/** A span of the recording, times in ms since its start. */
export interface Planned {
  name: string;
  start: number;
  end: number;
  status: SpanStatus;
  /** Its parent, by place in the plan. */
  parent: number | undefined;
}

/** When the recording begins, in ms since 1970: not before its file. */
export const BEGIN = Date.now() + 1000;

/** Requests that begin every 10 ms, each with a query and a reading of it; every tenth query fails. */
export function planOf(requests: number): Planned[] {
  const plan: Planned[] = [];
  for (let request = 0; request < requests; request++) {
    const start = request * 10;
    const status = request % 10 === 9 ? 'error' : 'unset';
    const parent = plan.length;
    const route = request % 3 === 0 ? 'GET /orders/:id' : 'GET /stock';
    plan.push({ name: route, start, end: start + 8, status: 'unset', parent: undefined });
    plan.push({ name: 'SELECT orders', start: start + 1, end: start + 5, status, parent });
    plan.push({
      name: 'parse',
      start: start + 2,
      end: start + 2.5,
      status: 'unset',
      parent: parent + 1,
    });
  }
  return plan;
}

/** Records a plan with the package's own spans. @returns the path of the trace. */
export async function recordService(
  directory: string,
  plan: readonly Planned[],
  { service = 'orders' } = {},
): Promise<string> {
  const path = join(directory, `${service}.heph`);
  configure({ target: path, service });
  const at = (ms: number): bigint => BigInt(BEGIN) * 1_000_000n + BigInt(Math.round(ms * 1e6));
  const spans: ReturnType<typeof startSpan>[] = [];
  for (const [place, { name, start, parent }] of plan.entries()) {
    const attributes = { place, 'http.route': name.replace(/^GET /, '') };
    const options = {
      startTime: at(start),
      parent: parent === undefined ? null : spans[parent]!,
    };
    spans.push(startSpan(name, attributes, options));
  }
  for (const [place, { end, status }] of plan.entries()) {
    if (status === 'error') spans[place]!.fail(new Error('no such order'));
    spans[place]!.end(at(end));
  }
  await shutdown();
  return path;
}
