import { describe, expect, it } from 'vitest';
import { parseWhere } from '../../../src/look/condition/where.js';
import { reportPage } from '../../../src/look/report/html/html-page.js';
import { textReport } from '../../../src/look/report/text/text-report.js';
import { textStyle } from '../../../src/look/report/text/text-style.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { recording, reportOn } from './recorded-service.js';

describe('errors', () => {
  it('are counted by type, in text, JSON and page', async () => {
    const { path } = await recording(
      () => {
        for (let i = 0; i < 3; i++) {
          const request = startSpan('GET /fail', {}, { kind: 'server', parent: null });
          const query = startSpan('SELECT', {}, { kind: 'client', parent: request });
          query.fail(new TypeError('no')).end();
          request.set('error.type', '500').fail().end();
        }
        startSpan('GET /good', {}, { kind: 'server', parent: null }).end();
      },
      { service: 'shop' },
    );
    const illustrated = await reportOn([path]);
    const { errors } = illustrated.report;
    expect(errors).toEqual({ count: 6, read: 6, types: expect.any(Array) as unknown });
    expect(
      errors.types.map(({ type, name, service, count }) => [type, name, service, count]),
    ).toEqual([
      ['500', 'GET /fail', 'shop', 3],
      ['TypeError', 'SELECT', 'shop', 3],
    ]);
    const some = await reportOn([path], { condition: parseWhere(errors.types[0]!.where) });
    expect(some.report.errors.count).toBe(3);
    const lines = [...textReport(illustrated.report, textStyle(80, false))];
    const title = lines.indexOf('Errors by type: 6 spans failed');
    expect(lines.slice(title + 1, title + 4)).toEqual([
      'type       span       service  count',
      '500        GET /fail  shop         3',
      'TypeError  SELECT     shop         3',
    ]);
    expect(reportPage(illustrated)).toContain('Errors by type: 6 spans failed');
  });
});
