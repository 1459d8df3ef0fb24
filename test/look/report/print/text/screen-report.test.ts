import { describe, expect, it } from 'vitest';
import { SECTION_NAMES } from '../../../../../src/look/report/print/text/report-sections.js';
import { textReport } from '../../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../../src/look/report/print/text/text-style.js';
import { startSpan } from '../../../../../src/spans/start-span.js';
import { recording, reportOn } from '../../recorded-service.js';

const style = textStyle(100, false);
const SERVICE = 'a-service-with-a-long-name';

/** A service with many routes, of which each fails in its own way and calls its own statement. */
const { path } = await recording(
  () => {
    for (let at = 0; at < 400; at++) {
      const route = `/part-${at % 30}/:id`;
      const attributes = {
        'http.route': route,
        'http.response.status_code': at % 30 === 1 ? 404 : 200,
      };
      const request = startSpan(`GET ${route}`, attributes, { kind: 'server', parent: null });
      for (let call = 0; call < 3; call++) {
        const options = { kind: 'client', parent: request } as const;
        const system = { 'db.system.name': 'postgresql' };
        startSpan(`SELECT part ${at % 30}`, system, options).end();
      }
      if (at % 2 === 0) request.fail(new Error(`part ${'abcdefgh'[at % 8]} is broken`));
      request.end();
    }
  },
  { service: SERVICE },
);
const { report } = await reportOn([path]);
const screen = [...textReport(report, style, [], 'screen')];

describe('a report on one screen', () => {
  it('has 50 lines of 100 columns at most, and says where the rest is', () => {
    expect(screen.length).toBeLessThanOrEqual(50);
    expect(screen.length).toBeGreaterThan(30);
    for (const line of screen) expect(line.length).toBeLessThanOrEqual(100);
    expect(
      screen.find((line) => /^\d+ more of 30 routes: see --section routes$/.test(line)),
    ).toBeDefined();
    expect(screen.at(-1)).toMatch(/recordings$/);
    // The last row takes no more room.
    expect(screen.filter((line) => line.startsWith('1 more of'))).toEqual([]);
  });

  it('has routes with calls a request, refused and failed requests, and their service', () => {
    const head = screen[screen.indexOf(`Routes of ${SERVICE}`) + 1]!;
    for (const title of ['route', 'count', 'calls/req', '4xx', '5xx', 'p50', 'p95', 'share']) {
      expect(head).toContain(title);
    }
    const refused = report.groups.find(({ name }) => name === 'GET /part-1/:id');
    // Requests of the routes that took the most time are looked at.
    const looked = report.groups.flatMap(({ calls }) => calls ?? []);
    expect(looked.length).toBeGreaterThanOrEqual(15);
    for (const calls of looked) expect(calls).toBeCloseTo(3);
    expect([null, 1]).toContain(refused!.refused);
    expect(screen.join('\n')).toContain('a-service');
  });

  it('has a row a cause, with message, requests and a trace', () => {
    const title = screen.indexOf(`Causes of failure of ${SERVICE}: 200, in 200 failed spans`);
    expect(title).toBeGreaterThan(0);
    expect(screen[title + 2]).toMatch(/^ +50 +Error: "part [aceg] is broken" .* [\da-f]{8}$/);
  });

  it('does not say that nothing is wrong of so short a time that no rule looks at it', () => {
    const why = 'the rules need 30 s and 50 requests.';
    expect(screen).toContain(`No finding: ${why}`);
    const section = [...textReport(report, style, [], ['findings'])];
    expect(section).toEqual([`The section findings is empty: ${why}`]);
    const minute = { ...report, length: 60e9 };
    expect([...textReport(minute, style, [], 'screen')]).toContain(
      'No finding: no rule has fired.',
    );
  });

  it('prints single sections, and all of them', () => {
    const callees = [...textReport(report, style, [], ['callees'])];
    expect(callees[0]).toMatch(/^Callees/);
    expect(callees[2]).toMatch(/^SELECT part \d+ .* 3 +\d+ .*GET \/part-\d+\/:id 3$/);
    expect([...textReport(report, style, [], ['allocations', 'callees'])].slice(0, 3)).toEqual([
      'The section allocations is empty: TRACEWRIGHT_PROFILE=heap records which code allocates.',
      '',
      callees[0],
    ]);
    const all = [...textReport(report, style, [], 'all')];
    expect(all.length).toBeGreaterThan(100);
    const titles = SECTION_NAMES.flatMap((name) => [...textReport(report, style, [], [name])][0]!);
    const missing = titles.filter((each) => !each.includes(' is empty') && !all.includes(each));
    // The recordings have no title where they come first.
    expect(missing).toEqual(['Recordings']);
  });
});
