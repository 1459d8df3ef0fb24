import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { textReport } from '../../../src/look/report/text/text-report.js';
import { textStyle } from '../../../src/look/report/text/text-style.js';
import { KIND_MASK } from '../../../src/look/index/look-index.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { readSpans } from '../../../src/spans/index.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { reportOn } from '../report/recorded-service.js';

/**
 * What the hook of 0.1.0 wrote with TRACEWRIGHT_CONTEXT=off: four requests that a service sent to itself, and one
 * that was open when SIGTERM ended it. Requests were events without ids then.
 */
const RECORDED = [
  'ddEdTQAAABcABWVwb2NoGOrRttPI88vB/B+3AAAAhAAAAAAAAAAAAAAAAAAAAAEAAAAABSPKTwAAAAAF2P3ZAAdyZXF1',
  'ZXN0ABNodHRwLnJlcXVlc3QubWV0aG9kBAADR0VUAAh1cmwucGF0aAQABy9vcmRlcnMAGWh0dHAucmVzcG9uc2Uuc3Rh',
  'dHVzX2NvZGUBAAAAAAAAAMjB/B+3AAAAygAAAAAAAAABAAAAAAAAAAIAAAAAAOetnQAAAAAHBXuZAAVmZXRjaAATaHR0',
  'cC5yZXF1ZXN0Lm1ldGhvZAQAA0dFVAAOc2VydmVyLmFkZHJlc3MEAAkxMjcuMC4wLjEAC3NlcnZlci5wb3J0AQAAAAAA',
  'AKshAAh1cmwuZnVsbAQAHWh0dHA6Ly8xMjcuMC4wLjE6NDM4MDkvb3JkZXJzABlodHRwLnJlc3BvbnNlLnN0YXR1c19j',
  'b2RlAQAAAAAAAADIwfwftwAAAJ4AAAAAAAAAAgAAAAAAAAADAAAAAAtTmp4AAAAAC2TIeAAHcmVxdWVzdAAKaHR0cC5y',
  'b3V0ZQQACi91c2Vycy86aWQAE2h0dHAucmVxdWVzdC5tZXRob2QEAANHRVQACHVybC5wYXRoBAAIL3VzZXJzLzcAGWh0',
  'dHAucmVzcG9uc2Uuc3RhdHVzX2NvZGUBAAAAAAAAAMjB/B+3AAAAywAAAAAAAAADAAAAAAAAAAQAAAAACbZqnAAAAAAN',
  'nz/cAAVmZXRjaAATaHR0cC5yZXF1ZXN0Lm1ldGhvZAQAA0dFVAAOc2VydmVyLmFkZHJlc3MEAAkxMjcuMC4wLjEAC3Nl',
  'cnZlci5wb3J0AQAAAAAAAKshAAh1cmwuZnVsbAQAHmh0dHA6Ly8xMjcuMC4wLjE6NDM4MDkvdXNlcnMvNwAZaHR0cC5y',
  'ZXNwb25zZS5zdGF0dXNfY29kZQEAAAAAAAAAyMH8H7cAAACCAAAAAAAAAAQAAAAAAAAABQAAAAANv1eTAAAAAA3HwY4A',
  'B3JlcXVlc3QAE2h0dHAucmVxdWVzdC5tZXRob2QEAANHRVQACHVybC5wYXRoBAAFL2ZhaWwAGWh0dHAucmVzcG9uc2Uu',
  'c3RhdHVzX2NvZGUBAAAAAAAAAfTB/B+3AAAA2gAAAAAAAAAFAAAAAAAAAAYAAAAADbWwFwAAAAAPh8gTAAVmZXRjaAAT',
  'aHR0cC5yZXF1ZXN0Lm1ldGhvZAQAA0dFVAAOc2VydmVyLmFkZHJlc3MEAAkxMjcuMC4wLjEAC3NlcnZlci5wb3J0AQAA',
  'AAAAAKshAAh1cmwuZnVsbAQAG2h0dHA6Ly8xMjcuMC4wLjE6NDM4MDkvZmFpbAAZaHR0cC5yZXNwb25zZS5zdGF0dXNf',
  'Y29kZQEAAAAAAAAB9AAKZXJyb3IudHlwZQQAAzUwMMH8H7cAAACEAAAAAAAAAAYAAAAAAAAABwAAAAAUAQgVAAAAABQH',
  'Fr8AB3JlcXVlc3QAE2h0dHAucmVxdWVzdC5tZXRob2QEAANHRVQACHVybC5wYXRoBAAHL29yZGVycwAZaHR0cC5yZXNw',
  'b25zZS5zdGF0dXNfY29kZQEAAAAAAAAAyMH8H7cAAADQAAAAAAAAAAcAAAAAAAAACAAAAAAP405rAAAAABW5zToAC2h0',
  'dHAgY2xpZW50ABNodHRwLnJlcXVlc3QubWV0aG9kBAADR0VUAA5zZXJ2ZXIuYWRkcmVzcwQACTEyNy4wLjAuMQALc2Vy',
  'dmVyLnBvcnQBAAAAAAAAqyEACHVybC5mdWxsBAAdaHR0cDovLzEyNy4wLjAuMTo0MzgwOS9vcmRlcnMAGWh0dHAucmVz',
  'cG9uc2Uuc3RhdHVzX2NvZGUBAAAAAAAAAMjB/B+3AAAApwAAAAAAAAAIkgdYWgAAAAUAAAAAFcvh8AAAAAAdz5IpAAdy',
  'ZXF1ZXN0AAJ+dAF6cYtCA8pU0wACfnMBl3nDRQAAAAUAAn5wAQAAAAAAAAAAAAJ+ZgEAAAAAAAAhAQATaHR0cC5yZXF1',
  'ZXN0Lm1ldGhvZAQAA0dFVAAIdXJsLnBhdGgEAAUvaG9sZAAKaHR0cC5yb3V0ZQQABi86aGVsZA==',
].join('');
const SERVER = 1;
const CLIENT = 2;

let path = '';
const directory = temporaryDirectory();
beforeAll(() => {
  path = join(directory, 'old.heph');
  writeFileSync(path, Buffer.from(RECORDED, 'base64'));
});

describe('requests that an older hook recorded without context', () => {
  it('are requests in a report, with their routes and errors', async () => {
    const { report } = await reportOn([path]);
    expect(report.by).toBe('route');
    expect(report.groups.map(({ name, count, errors }) => [name, count, errors]).sort()).toEqual([
      ['GET /:held', 1, 0],
      ['GET /fail', 1, 1],
      ['GET /orders', 2, 0],
      ['GET /users/:id', 1, 0],
    ]);
    expect(report.withoutContext).toEqual([path]);
    expect([...textReport(report, textStyle(200, false))].join(' ')).toContain(
      'was recorded without context: requests have no children',
    );
    const byName = (await reportOn([path], { by: 'name' })).report.groups;
    expect(byName.map(({ name, count, errors }) => [name, count, errors])).toContainEqual([
      'GET http://127.0.0.1:43809/fail',
      1,
      1,
    ]);
  });

  it('are rows of the index, with their kinds', async () => {
    const index = await openLookIndex([path]);
    try {
      const kinds = index.parts.flatMap(({ flags, count }) =>
        [...flags.subarray(0, count)].map((each) => each & KIND_MASK),
      );
      const countOf = (kind: number): number => kinds.filter((each) => each === kind).length;
      expect([countOf(SERVER), countOf(CLIENT), kinds.length]).toEqual([5, 4, 9]);
    } finally {
      index.close();
    }
  });

  it('are spans if they were open at the end', async () => {
    const spans = [];
    for await (const span of readSpans(path)) spans.push(span);
    expect(spans).toMatchObject([
      { name: 'request', kind: 'server', unfinished: true, attributes: { 'http.route': '/:held' } },
    ]);
  });
});
