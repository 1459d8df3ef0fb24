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
  const blocked = { ...group!.waitedFor[0]!, kind: 'blocked', share: 0.25 } as const;
  const groups = [
    { ...group!, sampled: 1, waitedFor: [blocked] },
    { ...group!, sampled: 1, waitedFor: [] },
    { ...group!, sampled: 0, waitedFor: [] },
    // Nothing watched its loop.
    { ...group!, sampled: 1, waitedFor: [], service: 'stock' },
  ];
  const column = groupTable({ ...report, groups }).columns.find(({ title }) => title === 'blocked');
  expect(groups.map((each) => cellText(column!, each))).toEqual(['25 %', '0 %', '–', '–']);
});
