import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/look/report/shape/finding-shape.js';
import type { Report } from '../../../../src/look/report/shape/report-shape.js';
import { textReport } from '../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../src/look/report/print/text/text-style.js';
import { SERVER, service, stall } from '../handmade-service.js';
import type { LoopRecord, MadeSpan } from '../handmade-service.js';
import { reportOn } from '../recorded-service.js';

const SECOND = 1000;
const MIB = 2 ** 20;

/** Two requests a second, of 20 ms. */
function requests(seconds: number): MadeSpan[] {
  return Array.from({ length: 2 * seconds }, (_, at): MadeSpan => {
    const [id, begin] = [BigInt(at + 1), at * 500];
    return { id, trace: id, name: 'GET /', flags: SERVER, at: [begin, begin + 20] };
  });
}

async function reportOf(
  seconds: number,
  spans: readonly MadeSpan[],
  loops: readonly LoopRecord[] = [],
): Promise<Report> {
  return (await reportOn([service('shop', [...requests(seconds), ...spans], undefined, loops)]))
    .report;
}

async function findingsOf(...given: Parameters<typeof reportOf>): Promise<Finding[]> {
  return (await reportOf(...given)).findings;
}

const textsOf = (findings: readonly Finding[]): string[] => findings.map(({ text }) => text);

/** A stall whose record says where the code was. */
function stallAt(id: number, from: number, length: number, cause = 'code', cpu = length): MadeSpan {
  const stack = 'at distance (/app/search.js:6:3)\nat search (/app/search.js:20:3)';
  const text = (name: string, value: string) => ({ name, type: 'string', value }) as const;
  return {
    ...stall(BigInt(10_000 + id), from, from + length),
    attributes: [
      text('eventloop.cause', cause),
      text('code.stacktrace', stack),
      { name: 'eventloop.open_spans', type: 'u64', value: 4n },
      { name: 'eventloop.cpu_ms', type: 'f64', value: cpu },
    ],
  };
}

/** One record a second of an event loop. */
function loop(seconds: number, figures: (second: number) => Record<string, number>): LoopRecord[] {
  return Array.from({ length: seconds }, (_, at) => ({
    at: [at * SECOND, (at + 1) * SECOND],
    figures: figures(at),
  }));
}

describe('findings on threads', () => {
  it('name the line that blocks an event loop', async () => {
    const stalls = Array.from({ length: 20 }, (_, at) => stallAt(at, 3000 * at + 1000, 100));
    const findings = await findingsOf(60, stalls);
    expect(textsOf(findings)).toEqual([
      'shop was blocked for 2 s by distance (app/search.js:6): 80 spans waited',
    ]);
    expect(findings[0]!.evidence).toBe('20 stalls, the longest 100 ms, 3.4 % of the time');
    const request = { name: 'eventloop.request', type: 'string', value: 'GET /search' } as const;
    const known = stalls.map((each) => ({ ...each, attributes: [...each.attributes!, request] }));
    expect(textsOf(await findingsOf(60, known))).toEqual([
      'shop was blocked for 2 s by distance (app/search.js:6), in GET /search: 80 spans waited',
    ]);
  });

  it.each([
    ['short', [1, 25, 45].map((at) => stallAt(at, at * SECOND, 100))],
    ['of a time without a CPU', [15, 25, 45].map((at) => stallAt(at, at * SECOND, 900, 'held'))],
    ['mostly without one', [15, 25, 45].map((at) => stallAt(at, at * SECOND, 900, 'code', 300))],
    ['at one time alone', [50, 51, 52].map((at) => stallAt(at, at * SECOND, 900))],
    ['of the first seconds', [1, 2, 3].map((at) => stallAt(at, at * SECOND, 900))],
  ])('do not name stalls %s', async (_, stalls) => {
    expect(await findingsOf(60, stalls)).toEqual([]);
  });

  it('name a thread that collects garbage for a tenth of its time', async () => {
    const collections = (length: number): MadeSpan[] =>
      Array.from({ length: 60 }, (_, at): MadeSpan => {
        const begin = at * SECOND + 300;
        return {
          id: BigInt(20_000 + at),
          trace: 9n,
          name: 'gc minor',
          at: [begin, begin + length],
        };
      });
    const findings = await findingsOf(60, collections(150));
    expect(findings.map(({ rule }) => rule)).toEqual(['collections']);
    expect(findings[0]!.text).toMatch(/ of shop collects garbage for 15 % of its time$/);
    expect(await findingsOf(60, collections(60))).toEqual([]);
  });

  it('name an event loop that is used up, if events wait', async () => {
    const busy = (share: number, delay: number): LoopRecord[] =>
      loop(60, (second) => ({
        busy: (second > 14 ? share : 0.5) * 1e9,
        delay: delay * 1e6,
      }));
    const findings = await findingsOf(60, [], busy(0.97, 40));
    expect(findings.map(({ rule }) => rule)).toEqual(['loop used up', 'outside requests']);
    expect(findings[0]!.text).toMatch(/ of shop is used up: events wait 40 ms \(p95\)$/);
    expect((await findingsOf(60, [], busy(0.97, 5))).map(({ rule }) => rule)).not.toContain(
      'loop used up',
    );
    expect((await findingsOf(60, [], busy(0.8, 40))).map(({ rule }) => rule)).not.toContain(
      'loop used up',
    );
  });

  it('name a heap that grows whatever is collected', async () => {
    const majors = Array.from({ length: 12 }, (_, at): MadeSpan => {
      const begin = 30 * SECOND * at + 500;
      return { id: BigInt(30_000 + at), trace: 9n, name: 'gc major', at: [begin, begin + 5] };
    });
    /** A saw on what is left: up by 30 MiB between collections. */
    const heap = (growth: number, limit?: number): LoopRecord[] =>
      loop(360, (second) => ({
        busy: 1e8,
        heap: Math.round((40 + (second % 30) + (growth * second) / 360) * MIB),
        ...(limit === undefined ? {} : { limit: limit * MIB }),
      }));
    const findings = await findingsOf(360, majors, heap(100));
    expect(findings.map(({ rule }) => rule)).toEqual(['memory grows']);
    expect(findings[0]!.text).toMatch(
      / of shop grows by (9\d\d|1) [MG]iB an hour, and collections/,
    );
    expect(findings[0]!.evidence).toMatch(/; 4 GiB, its limit, in 4 h \d+ min$/);
    const [limited] = await findingsOf(360, majors, heap(100, 200));
    expect(limited!.evidence).toMatch(/; 200 MiB, its limit, in \d min/);
    expect(await findingsOf(360, majors, heap(100, 65_536))).toEqual([]);
    expect(await findingsOf(360, majors, heap(0))).toEqual([]);
    expect(await findingsOf(360, [], heap(100))).toEqual([]);
    expect(await findingsOf(360, majors, heap(30))).toEqual([]);
  });

  it('name a heap that will soon be full also in half a minute, if there are enough collections', async () => {
    const majors = (count: number): MadeSpan[] =>
      Array.from({ length: count }, (_, at): MadeSpan => {
        const begin = Math.round((60 * SECOND * at) / count) + 500;
        return { id: BigInt(30_000 + at), trace: 9n, name: 'gc major', at: [begin, begin + 5] };
      });
    const heap = (growth: number): LoopRecord[] =>
      loop(60, (second) => ({ busy: 1e8, heap: Math.round((40 + growth * second) * MIB) }));
    const findings = await findingsOf(60, majors(12), heap(6));
    expect(findings.map(({ rule }) => rule)).toEqual(['memory grows']);
    expect(await findingsOf(60, majors(11), heap(6))).toEqual([]);
    expect(await findingsOf(60, majors(12), heap(4))).toEqual([]);
  });

  it('conclude nothing on a heap from a short time or few collections, and the section says so', async () => {
    const heap = (seconds: number): LoopRecord[] =>
      loop(seconds, (second) => ({ busy: 1e8, heap: Math.round((40 + second) * MIB) }));
    const noteOn = async (seconds: number, spans: MadeSpan[]): Promise<string | undefined> => {
      const report = await reportOf(seconds, spans, heap(seconds));
      expect(report.findings).toEqual([]);
      const screen = [...textReport(report, textStyle(200, false), [], 'screen')];
      expect(screen.filter((line) => line.includes('leaks'))).toHaveLength(1);
      const style = textStyle(200, false);
      return [...textReport(report, style, [], ['memory'])].find((line) => line.includes('leaks'));
    };
    const full: MadeSpan = { id: 30_000n, trace: 9n, name: 'gc major', at: [9000, 9005] };
    expect(await noteOn(60, [full])).toMatch(
      /^Memory: the heap of shop grew from 4\d MiB to 9\d MiB\. (59|60)\S* s are too short to say whether it leaks: record 10 min\.$/,
    );
    expect(await noteOn(360, [full])).toBe(
      'Memory: the heap of shop grew from 40 MiB to 399 MiB. 1 full collection cannot say whether it leaks: 6 are needed.',
    );
  });

  it('name work outside requests, if it is much', async () => {
    const busy = (share: number): LoopRecord[] => loop(60, () => ({ busy: share * 1e9 }));
    const findings = await findingsOf(60, [], busy(0.4));
    // 20 s of 50 are busy, 2.4 s are of requests, and half a millisecond for each of these.
    expect(textsOf(findings)).toEqual([
      expect.stringMatching(
        /^at least 8\d(\.\d)? % of the work of thread .* of shop is outside requests/,
      ),
    ]);
    expect(findings[0]!.evidence).toMatch(
      /^17(\.\d)? s of (49|50)(\.\d)? s, in which no span was open/,
    );
    expect(await findingsOf(60, [], busy(0.12))).toEqual([]);
    const jobs = Array.from({ length: 60 }, (_, at): MadeSpan => {
      const id = BigInt(40_000 + at);
      return { id, trace: id, name: 'job', at: [at * SECOND + 100, at * SECOND + 450] };
    });
    expect(await findingsOf(60, jobs, busy(0.4))).toEqual([]);
  });
});
