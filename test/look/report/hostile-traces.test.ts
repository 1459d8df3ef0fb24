import { expect, it } from 'vitest';
import { startSpan } from '../../../src/spans/start-span.js';
import { reportPage } from '../../../src/look/report/html/html-page.js';
import { jsonReport, textReport } from '../../../src/look/report/text/text-report.js';
import type { Report } from '../../../src/look/report/report-shape.js';
import { displayWidth } from '../../../src/look/report/text/display-width.js';
import { textStyle } from '../../../src/look/report/text/text-style.js';
import { recording, reportOn } from './recorded-service.js';

/** What a terminal acts on, or what turns the direction of writing. */
// eslint-disable-next-line no-control-regex -- these are what must not be there
const ACTED_ON = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const NAMES = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onload='alert(1)",
  '</title></style><iframe src="https://example.com">',
  '<!-- ${alert(1)} `alert(1)` -->',
  '\u001b]0;title\u0007\u001b[31mred\u001b[2J',
  '\u202egnp.exe\u2066',
  'line\nbreak\r\ttab\0null',
  '\ud800 alone',
  '__proto__',
  'constructor',
  '漢字'.repeat(3000),
  'x'.repeat(60_000),
  '',
];

const SECOND = 1_000_000_000n;
/** The last time that a span can have: 228 years from now. */
const LAST = 9_000_000_000n * SECOND;

function hostileSpans(): void {
  const now = BigInt(Date.now()) * 1_000_000n;
  for (const [at, name] of NAMES.entries()) {
    const attributes = { 'http.route': name, [name === '' ? 'empty' : name]: name };
    const start = now + BigInt(at) * SECOND;
    const options = { kind: 'server', parent: null, startTime: start } as const;
    const request = startSpan(name, attributes, options);
    const inner = startSpan(name, {}, { parent: request, startTime: start });
    for (let depth = 0; depth < 3; depth++) {
      startSpan(name, {}, { parent: inner, startTime: start }).end(start + 5n);
    }
    inner.end(start + 1000n);
    request.fail(new Error(name));
    // One that lasts for centuries, one that ends before it begins.
    request.end(at === 0 ? LAST : at === 1 ? start - SECOND : start + SECOND);
  }
}

async function hostileReports(): Promise<Awaited<ReturnType<typeof reportOn>>[]> {
  const { path } = await recording(hostileSpans, { service: NAMES[1]! });
  return Promise.all(
    (['route', 'name', 'service'] as const).map((by) =>
      reportOn([path], { by, pictures: 12, slowest: 20 }),
    ),
  );
}

it('lets nothing through to a terminal', async () => {
  for (const { report } of await hostileReports()) {
    for (const width of [40, 60, 80, 120, 200, 400]) {
      for (const line of textReport(report, textStyle(width, false))) {
        expect(line).not.toMatch(ACTED_ON);
        expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }
    }
    expect(jsonReport(report)).not.toMatch(ACTED_ON);
  }
});

it('is JSON that has the names as they are', async () => {
  const [byRoute] = await hostileReports();
  const parsed = JSON.parse(jsonReport(byRoute!.report)) as Report;
  const names = parsed.groups.map(({ name }) => name);
  for (const name of NAMES.filter((each) => each.length < 1000)) {
    expect(names).toContain(name.replace('\ud800', '\ufffd'));
  }
  for (const { p50, p99, max, total, rate, share } of parsed.groups) {
    for (const figure of [p50, p99, max, total, rate, share]) {
      expect(figure).toBeGreaterThanOrEqual(0);
      expect(figure).toBeLessThan(Infinity);
    }
  }
  // Longer than a Date would be, were it not limited.
  expect(parsed.to).toMatch(/^\d{4}-/);
});

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
