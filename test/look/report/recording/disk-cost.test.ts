import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseWhere } from '../../../../src/look/condition/where.js';
import { textReport } from '../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../src/look/report/print/text/text-style.js';
import { SERVER, service } from '../handmade-service.js';
import type { MadeSpan } from '../handmade-service.js';
import { reportOn } from '../recorded-service.js';

it('the traces cost what their files have, for a request and for a day', async () => {
  const requests = (count: number, from: number): MadeSpan[] =>
    Array.from({ length: count }, (_, i): MadeSpan => {
      const begin = from + 100 * i;
      return {
        id: BigInt(begin + 1),
        trace: 1n,
        name: 'GET /',
        flags: SERVER,
        at: [begin, begin + 100],
      };
    });
  // Ten seconds, of which the second process has the last five.
  const paths = [service('shop', requests(100, 0)), service('shop', requests(50, 5000))];
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const illustrated = await reportOn(paths);
  const { cost } = illustrated.report;
  expect(cost).toEqual({
    bytes,
    perRequest: bytes / 150,
    perDay: expect.closeTo(bytes * 8640, -2) as number,
  });
  const text = [...textReport(illustrated.report, textStyle(100, false))].at(-1);
  expect(text).toMatch(/^[\d.]+ KiB on disk, [\d.]+ B a request, [\d.]+ MiB a day at this rate$/);

  const { report: some } = await reportOn(paths, { condition: parseWhere(['service=shop']) });
  expect(some.cost.bytes).toBe(bytes);
  const { report: early } = await reportOn(paths, { condition: { to: 1e9 } });
  expect(early.cost).toMatchObject({ bytes, perRequest: null });
  const { report: short } = await reportOn([service('shop', requests(90, 0))]);
  expect(short.cost.perDay).toBeNull();
});
