import { expect, it } from 'vitest';
import { reportPage } from '../../../../../src/look/report/print/html/html-page.js';
import { textReport } from '../../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../../src/look/report/print/text/text-style.js';
import { startSpan } from '../../../../../src/spans/start-span.js';
import { hostileReports } from '../../hostile-reports.js';
import { recording, reportOn } from '../../recorded-service.js';

it('is a page without a script, a request or a broken tag', async () => {
  for (const illustrated of await hostileReports()) {
    const page = reportPage(illustrated);
    expect(Buffer.byteLength(page)).toBeLessThan(2_000_000);
    const tags = new Set([...page.matchAll(/<\/?([a-z!][\w-]*)/gi)].map(([, tag]) => tag!));
    expect([...tags].sort()).toEqual([...tags].filter((tag) => KNOWN_TAGS.has(tag)).sort());
    expect(page).not.toMatch(/<[^>]*\s(?:on\w+|src|href|style)\s*=/i);
    expect(page).not.toMatch(/url\(|@import/i);
    expect(page).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;');
    expect(page).toContain("default-src 'none'; style-src 'sha256-");
    // eslint-disable-next-line no-control-regex -- a page has line breaks of its own
    expect(page).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  }
});

const KNOWN_TAGS = new Set(
  (
    '!doctype html head meta title style body main h1 h2 h3 p div section table thead tbody tr th td ' +
    'span figure figcaption svg g rect line path text'
  ).split(' '),
);

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
  const illustrated = await reportOn([path], { pictures: 12, slowest: 100 });
  expect(Buffer.byteLength(reportPage(illustrated))).toBeLessThan(2_000_000);
  const lines = [...textReport(illustrated.report, textStyle(100, false))];
  expect(lines.length).toBeLessThan(2000);
  expect(illustrated.report.groups).toHaveLength(1001);
  expect(lines).toContain('951 more groups: see --json');
});
