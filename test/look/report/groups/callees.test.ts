import { expect, it } from 'vitest';
import { calleeTable } from '../../../../src/look/report/print/tables/callee-table.js';
import { cellText } from '../../../../src/look/report/print/tables/report-table.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { recording, reportOn, seededNumbers } from '../recorded-service.js';

/** How often requests called: what the table says, and the truth. */
async function callsOf(count: number): Promise<{ cells: Record<string, string>; calls: number }> {
  const numbers = seededNumbers(3);
  const begin = BigInt(Date.now() - 60_000) * 1_000_000n;
  let calls = 0;
  const { path } = await recording(
    () => {
      for (let at = 0; at < count; at++) {
        const startTime = begin + BigInt(at) * 50_000_000n;
        const request = startSpan('POST /buy', {}, { kind: 'server', parent: null, startTime });
        let end = startTime + 1_000_000n;
        for (let each = Math.floor(5 * numbers.next().value); each >= 0; each--) {
          const options = { kind: 'client', parent: request, startTime: end } as const;
          end += BigInt(Math.floor(4e6 * numbers.next().value));
          startSpan('send mail', { 'messaging.system': 'smtp' }, options).end(end);
          calls += 1;
        }
        request.end(end + 1_000_000n);
      }
    },
    { service: 'shop' },
  );
  const { report } = await reportOn([path]);
  const { title, columns, rows } = calleeTable(report);
  expect(rows).toHaveLength(1);
  const cells = columns.map((column) => [column.title, cellText(column, rows[0]!)] as const);
  return { cells: { ...Object.fromEntries(cells), title }, calls };
}

it('calls of callees are counted, or estimated with no more figures than an estimate has', async () => {
  const few = await callsOf(90);
  expect(few.cells).toMatchObject({ title: 'Callees', calls: String(few.calls) });
  const many = await callsOf(400);
  expect(many.cells['title']).toBe('Callees, estimated from a part of the requests');
  const [, about] = /^about (\d)(\d)0*$/.exec(many.cells['calls']!.replace(',', '')) ?? [];
  expect(about).toBeDefined();
  const estimate = Number(many.cells['calls']!.replace(/\D/g, ''));
  expect(Math.abs(estimate / many.calls - 1)).toBeLessThan(0.2);
  expect(many.cells['calls/req']).toMatch(/^\d(?:\.\d)?$/);
  for (const figure of ['total', 'p95']) {
    expect(many.cells[figure]).toMatch(/^(?:\d\.\d|\d\d?0*|0\.\d\d?) \S+$/);
  }
});
