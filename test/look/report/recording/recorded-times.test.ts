import { describe, expect, it } from 'vitest';
import { textReport } from '../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../src/look/report/print/text/text-style.js';
import type { Report } from '../../../../src/look/report/shape/report-shape.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { SERVER, service, stall } from '../handmade-service.js';
import type { MadeSpan } from '../handmade-service.js';
import { recording, reportOn } from '../recorded-service.js';

/** Requests of 100 ms, one each so many ms, from a time on. */
function requests(count: number, every: number, from = 0): MadeSpan[] {
  return Array.from({ length: count }, (_, i): MadeSpan => {
    const id = BigInt(from + i + 1);
    const begin = from + every * i;
    return { id, trace: id, name: 'GET /', flags: SERVER, at: [begin, begin + 100] };
  });
}

function textOf(report: Report): string {
  return [...textReport(report, textStyle(200, false))].join('\n');
}

describe('a service that was recorded for a part of the time', () => {
  it('has rates of that part', async () => {
    const paths = [service('shop', requests(10, 1000)), service('stock', requests(5, 200))];
    const { report } = await reportOn(paths);
    const rates = report.groups.map(({ service: of, rate }) => [of, rate]);
    expect(rates).toEqual([
      ['shop', expect.closeTo(10 / 9.1)],
      ['stock', expect.closeTo(5 / 0.9)],
    ]);
    expect(report.sources.map(({ recorded }) => recorded)).toEqual([9.1e9, 0.9e9]);
    expect(report.threads.map(({ share }) => share)).toEqual([
      expect.closeTo(1 / 9.1),
      expect.closeTo(0.5 / 0.9),
    ]);
    expect(textOf(report)).toContain(
      'Rates are of the time in which the service was recorded: stock 900 ms of 9.1 s',
    );
    const { report: early } = await reportOn(paths, { condition: { to: 0.9e9 } });
    expect(textOf(early)).not.toContain('Rates are of');
  });
});

describe('a stall at the start of a process', () => {
  it('is listed after all others, and says what it is', async () => {
    const spans = [stall(50n, 5, 305), ...requests(5, 1000, 400), stall(51n, 410, 490)];
    const { report } = await reportOn([service('shop', spans)]);
    const { longest } = report.interruptions;
    expect(longest.map(({ duration, atStart }) => [duration, atStart])).toEqual([
      [80e6, false],
      [300e6, true],
    ]);
    expect(textOf(report)).toMatch(/\n300 ms of shop, .*, at the start of the process\n/);
  });

  it('is listed even if there are many others, as the table says how long it was', async () => {
    const later = Array.from({ length: 12 }, (_, i) =>
      stall(BigInt(60 + i), 500 + 100 * i, 560 + 100 * i),
    );
    const spans = [stall(50n, 5, 305), ...requests(5, 1000, 400), ...later];
    const { report } = await reportOn([service('shop', spans)]);
    expect(report.interruptions.longest).toHaveLength(10);
    const [, list = ''] = textOf(report).split('The longest stalls:');
    expect(list.match(/^\S+ ms of shop/gm)).toHaveLength(5);
    expect(list).toMatch(/\n300 ms of shop, .*, at the start of the process\n/);
  });

  it('is one of the first second if there are no requests', async () => {
    const job: MadeSpan = { id: 1n, trace: 1n, name: 'job', at: [0, 9000] };
    const spans = [job, stall(2n, 500, 600), stall(3n, 2000, 2100)];
    const { report } = await reportOn([service('jobs', spans)]);
    expect(report.interruptions.longest.map(({ atStart }) => atStart)).toEqual([false, true]);
  });
});

describe('two recordings of a service', () => {
  it('one after the other, are compared by a command that the report names', async () => {
    const serve = (): void => {
      startSpan('GET /', {}, { kind: 'server', parent: null }).end();
    };
    const { path: before } = await recording(serve, { service: 'shop' });
    const { path: after } = await recording(serve, { service: 'shop' });
    const illustrated = await reportOn([after, before]);
    const { recordedTwice } = illustrated.report;
    expect(recordedTwice!.services).toEqual(['shop']);
    const [earlier, later] = [recordedTwice!.before[0]!, recordedTwice!.after[0]!];
    expect([before.startsWith(`${earlier}/`), after.startsWith(`${later}/`)]).toEqual([true, true]);
    const command = `tracewright report ${later} --against ${earlier}`;
    expect(textOf(illustrated.report).replaceAll(/\n */g, ' ')).toContain(command);
  });

  it('at the same time, are one', async () => {
    const paths = [service('shop', requests(5, 100)), service('shop', requests(5, 100, 50))];
    expect((await reportOn(paths)).report.recordedTwice).toBeNull();
  });
});
