import { describe, expect, it } from 'vitest';
import type { SlowTrace } from '../../../src/look/report/shape/trace-shape.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { recording } from '../../look/report/recorded-service.js';
import { tracewright } from '../run-command.js';

const { path, spans } = await recording(
  () => {
    for (let request = 0; request < 20; request++) {
      const own = startSpan('GET /orders', {}, { kind: 'server', parent: null });
      for (let at = 0; at < 12; at++) {
        startSpan('SELECT items', {}, { kind: 'client', parent: own }).end();
      }
      if (request === 7) own.fail(new RangeError('no order 7'));
      own.end();
    }
  },
  { service: 'shop' },
);
const failed = spans.find(({ status }) => status.code === 'error')!;
const id = failed.traceId;

describe('tracewright trace', () => {
  it.each([
    ['the whole id', id],
    ['its first digits', id.slice(0, 12)],
    ['capitals', id.toUpperCase()],
    ['a traceparent', `00-${id}-${failed.spanId}-01`],
  ])('prints one trace by %s', (_, text) => {
    const { status, stdout, stderr } = tracewright('trace', text, path);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^GET \/orders of shop: /);
    expect(lines[1]).toMatch(new RegExp(`UTC, trace ${id}$`));
    expect(stdout).toMatch(/└ SELECT items \(12 times\)/);
    expect(lines.at(-2)).toMatch(
      /^failed in shop: RangeError at .*trace\.test\.ts:\d+\): "no order \?"/,
    );
    expect(stdout).not.toMatch(/^1\. /);
  });

  it('takes the path before the id, too, as other commands do', () => {
    const { status, stdout } = tracewright('trace', path, id.slice(0, 12));
    expect([status, stdout]).toEqual([0, tracewright('trace', id, path).stdout]);
  });

  it('prints the trace as JSON', () => {
    const trace = JSON.parse(tracewright('trace', id, path, '--json').stdout) as SlowTrace;
    expect(trace).toMatchObject({ traceId: id, name: 'GET /orders', service: 'shop', spans: 13 });
  });

  it('takes its directory from TRACEWRIGHT_DIR', () => {
    process.env['TRACEWRIGHT_DIR'] = path;
    try {
      expect(tracewright('trace', id).status).toBe(0);
    } finally {
      delete process.env['TRACEWRIGHT_DIR'];
    }
  });

  it('refuses what is no id, what no trace has, and what several have', () => {
    const errorOf = (text: string): [number | null, string] => {
      const { status, stderr } = tracewright('trace', text, path);
      return [status, stderr.split('\n')[0]!];
    };
    expect(errorOf('GET')).toEqual([
      2,
      'tracewright trace: ID must be the id of a trace or its first digits, got "GET". Type: tracewright trace ID GET',
    ]);
    const other = `${id.slice(0, 31)}${id.endsWith('0') ? '1' : '0'}`;
    expect(errorOf(other)).toEqual([2, `tracewright trace: no trace begins with ${other}`]);
    // Twenty ids and sixteen digits.
    const digit = '0123456789abcdef'
      .split(/(?:)/)
      .find(
        (each) =>
          new Set(spans.map((span) => span.traceId).filter((own) => own.startsWith(each))).size > 1,
      )!;
    const [status, text] = errorOf(digit);
    expect(status).toBe(2);
    expect(text).toMatch(
      /^tracewright trace: several traces begin with ., as ([\da-f]{32}, )+[\da-f]{32}\. Give/,
    );
  });
});
