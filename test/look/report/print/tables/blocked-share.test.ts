import { expect, it } from 'vitest';
import { groupTable } from '../../../../../src/look/report/print/tables/group-tables.js';
import { cellText } from '../../../../../src/look/report/print/tables/report-table.js';
import { startSpan } from '../../../../../src/spans/start-span.js';
import { recording, reportOn } from '../../recorded-service.js';

it('a share that is not known is no zero', async () => {
  const { path } = await recording(
    () => {
      startSpan('GET /a', {}, { kind: 'server', parent: null }).end();
    },
    { service: 'shop' },
  );
  const { report } = await reportOn([path]);
  const [group] = report.groups;
  const groups = [
    { ...group!, blocked: { share: 0.2468, isEstimate: false } },
    { ...group!, blocked: { share: 0.2468, isEstimate: true } },
    { ...group!, blocked: { share: 0, isEstimate: false } },
    { ...group!, blocked: null },
    // Nothing watched its loop.
    { ...group!, blocked: { share: 0, isEstimate: false }, service: 'stock' },
  ];
  const column = groupTable({ ...report, groups }).columns.find(({ title }) => title === 'blocked');
  expect(groups.map((each) => cellText(column!, each))).toEqual([
    '24.7 %',
    '~25 %',
    '0 %',
    '–',
    '–',
  ]);
});
