import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readReportFiles, reportPage } from '../../../../src/look/report/print/html-page.js';
import { textReport } from '../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../src/look/report/print/text/text-style.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { main } from '../../../cli/run-command.js';
import { hostileReports } from '../hostile-reports.js';
import { recording, reportOn } from '../recorded-service.js';

const files = readReportFiles(join(dirname(main), '../page'));
const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');

it('is a page with one program, one style, no request, and data in which no tag ends', async () => {
  for (const { report } of await hostileReports()) {
    const page = reportPage(report, files);
    const scripts = [...page.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)];
    expect(scripts.map(([, attributes]) => attributes)).toEqual([
      ' id="report" type="application/json"',
      ' type="module"',
    ]);
    expect(scripts[1]![2]).toBe(files.script);
    expect(page).toContain(`script-src 'sha256-${hashOf(files.script)}'; `);
    expect(page).toContain(`style-src 'sha256-${hashOf(files.style)}'; `);
    expect(page).toContain("default-src 'none'; ");
    const data = scripts[0]![2]!;
    expect(data).not.toContain('<');
    expect(JSON.parse(data)).toMatchObject({ from: report.from, length: report.length });
    // eslint-disable-next-line no-control-regex -- characters that act on who looks at the page
    expect(data).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(JSON.stringify(JSON.parse(data))).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  }
});

it('has at most so many bytes, however much there is', async () => {
  const { path } = await recording(() => {
    const now = BigInt(Date.now()) * 1_000_000n;
    for (let i = 0; i < 3000; i++) {
      const name = `<&"'${i} ${'&'.repeat(200)}`;
      const request = startSpan(name, {}, { kind: 'server', parent: null, startTime: now });
      for (let child = 0; child < 4; child++) {
        startSpan(`${child}${name}`, {}, { parent: request, startTime: now }).end(now + 5n);
      }
      request.end(now + BigInt(i));
    }
  });
  const { report } = await reportOn([path], { slowest: 100 });
  expect(Buffer.byteLength(reportPage(report, files))).toBeLessThan(2_000_000);
  const lines = [...textReport(report, textStyle(100, false))];
  expect(lines.length).toBeLessThan(2000);
  expect(report.groups).toHaveLength(1001);
  expect(lines).toContain('951 more of 1,001 routes: see --json');
});
