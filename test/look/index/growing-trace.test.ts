import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { NO_PARENT } from '../../../src/look/index/look-index.js';
import type { LookIndex } from '../../../src/look/index/look-index.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { SETTLED_ROWS } from '../../../src/look/index/parts/indexed-part.js';
import { configure, flush, shutdown } from '../../../src/spans/recording.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const directory = temporaryDirectory();

afterAll(shutdown);

/** Records requests that end after the spans below them, and some of them much later. */
class Requests {
  readonly #open: ReturnType<typeof startSpan>[] = [];

  async record(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const request = startSpan('request', undefined, { kind: 'server' });
      startSpan('query', undefined, { parent: request }).end();
      if (i % 1000 === 0) this.#open.push(request);
      else request.end();
      if (this.#open.length > 3) this.#open.shift()!.end();
      if (i % 2000 === 0) await flush();
    }
    await flush();
  }

  end(): void {
    for (const request of this.#open) request.end();
  }
}

/** What is known of some rows, whatever their numbers: ids, times, and the parent's id. */
function rowsOf(index: LookIndex): string[] {
  const idOf = (row: number): string => {
    const part = index.partOf(row);
    const at = 2 * (row - part.firstRow);
    return `${part.spanId[at]}-${part.spanId[at + 1]}`;
  };
  return index.parts
    .flatMap((part) =>
      Array.from({ length: part.count }, (_, at) => {
        if (part.spanId[2 * at]! % 8 !== 0) return '';
        const parent = part.parent[at]!;
        const above = parent > NO_PARENT ? idOf(parent) : parent;
        const name = part.names.text(part.name[at]!);
        return [idOf(part.firstRow + at), name, part.start[at], part.duration[at], above].join(' ');
      }),
    )
    .sort();
}

/** Rows of one lane that overlap. */
function overlapsIn(index: LookIndex): number {
  const lanes = new Map<string, [number, number][]>();
  for (const { count, track, lane, start, duration } of index.parts) {
    for (let at = 0; at < count; at++) {
      const key = `${track[at]} ${lane[at]}`;
      const times = lanes.get(key) ?? [];
      lanes.set(key, times);
      times.push([start[at]!, start[at]! + duration[at]!]);
    }
  }
  let overlaps = 0;
  for (const times of lanes.values()) {
    times.sort(([a, aEnd], [b, bEnd]) => a - b || aEnd - bEnd);
    for (let i = 1; i < times.length; i++) if (times[i]![0] < times[i - 1]![1]) overlaps++;
  }
  return overlaps;
}

test('a trace that grows has the rows of the whole, small parts become large ones', async () => {
  const path = join(directory, 'grows.heph');
  const cache = join(directory, 'cache');
  configure({ target: path });
  const requests = new Requests();
  await requests.record(500);
  const index = await openLookIndex([path], { cache });
  let parts = 0;
  const grow = async (count: number): Promise<void> => {
    await requests.record(count);
    await index.refresh();
    parts = Math.max(parts, index.parts.length);
  };
  for (let round = 0; round < 6; round++) await grow(5000);
  expect(parts).toBeGreaterThan(3);
  await grow(SETTLED_ROWS / 2);
  await expect
    .poll(
      async () => {
        await grow(10);
        return index.parts[0]!.count;
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThanOrEqual(SETTLED_ROWS);
  expect(index.parts.length).toBeLessThan(4);
  expect(overlapsIn(index)).toBe(0);
  expect(index.tracks[0]!.lanes).toBeLessThan(50);

  requests.end();
  await shutdown();
  await index.refresh();
  const whole = await openLookIndex([path], { cache: false });
  expect(index.rows).toBe(whole.rows);
  expect(rowsOf(index).join('\n') === rowsOf(whole).join('\n')).toBe(true);
  const shown = index.windows(0, index.length, 100, [0]).flatMap(({ rows, merged }) => {
    return [rows.length, ...merged.count];
  });
  expect(shown.reduce((sum, count) => sum + count, 0)).toBe(whole.rows);
  const curves = [index, whole].map((each) => {
    const { times, values } = each.counters.find(({ unit }) => unit === 'requests')!;
    return times.subarray(1).reduce((sum, time, i) => sum + (time - times[i]!) * values[i]!, 0);
  });
  expect(curves[0]! / curves[1]!).toBeCloseTo(1, 6);
  whole.close();
  index.close();
  expect(readdirSync(cache)).toEqual([]);
});
