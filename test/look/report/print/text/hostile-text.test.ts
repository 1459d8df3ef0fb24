import { expect, it } from 'vitest';
import type { Report } from '../../../../../src/look/report/shape/report-shape.js';
import { displayWidth } from '../../../../../src/look/report/print/text/display-width.js';
import { jsonReport, textReport } from '../../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../../src/look/report/print/text/text-style.js';
import { NAMES, hostileReports } from '../../hostile-reports.js';

/** What a terminal acts on, or what turns the direction of writing. */
// eslint-disable-next-line no-control-regex -- these are what must not be there
const ACTED_ON = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

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
