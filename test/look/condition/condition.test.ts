import { describe, expect, it } from 'vitest';
import { spanCondition, textPattern } from '../../../src/look/condition/span-condition.js';
import { isRelative, parseTimePoint, rangeOf } from '../../../src/look/condition/time-point.js';
import { parseWhere } from '../../../src/look/condition/where.js';
import type { SpanRecord } from '../../../src/spans/span-record.js';

const EPOCH = 1_700_000_000_000_000_000n;

function someSpan(fields: Partial<SpanRecord> = {}): SpanRecord {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    parentIsRemote: false,
    name: 'GET /users',
    kind: 'server',
    start: EPOCH + 100n,
    end: EPOCH + 200n,
    attributes: {},
    events: [],
    links: [],
    status: { code: 'unset', message: '' },
    flags: 1,
    traceState: '',
    dropped: { attributes: 0, events: 0, links: 0 },
    thread: 0,
    unfinished: false,
    ...fields,
  };
}

const meets = (texts: string[], fields: Partial<SpanRecord> = {}): boolean =>
  spanCondition(parseWhere(texts), EPOCH)(someSpan(fields));

describe('a time on the command line', () => {
  it('is ISO to the nanosecond, or relative to start or end', () => {
    expect(parseTimePoint('--since', '2023-11-14T22:13:20.000000001Z')).toEqual({
      from: 'epoch',
      nanoseconds: EPOCH + 1n,
    });
    expect(parseTimePoint('--since', '+1.5s')).toEqual({ from: 'start', nanoseconds: 1.5e9 });
    expect(parseTimePoint('--since', '-5m')).toEqual({ from: 'end', nanoseconds: 300e9 });
    const local = parseTimePoint('--since', '2023-11-14 12:00');
    expect(local.nanoseconds).toBe(BigInt(new Date(2023, 10, 14, 12).getTime()) * 1_000_000n);
    for (const wrong of ['', '5', 'yesterday', '+', '-3 weeks', '2023-13-01', '+1e9s']) {
      expect(() => parseTimePoint('--until', wrong), wrong).toThrow('--until must be an ISO time');
    }
  });

  it('becomes bounds once the extent of the recording is known', () => {
    const since = parseTimePoint('--since', '+1us');
    const until = parseTimePoint('--until', '-1us');
    expect(isRelative({ since })).toBe(true);
    expect(isRelative({ since: parseTimePoint('--since', '2023-11-14') })).toBe(false);
    expect(rangeOf({ since, until }, { epoch: EPOCH, length: 5000 })).toEqual({
      from: 1000,
      to: 4000,
    });
    const absolute = { from: 'epoch', nanoseconds: EPOCH + 7n } as const;
    expect(rangeOf({ until: absolute }, { epoch: EPOCH, length: 1 })).toEqual({ to: 7 });
  });
});

describe('--where', () => {
  it('parses fields, durations and attributes', () => {
    expect(
      parseWhere([
        'name=GET *',
        'service=api',
        'status=error',
        'kind=server',
        'unfinished=true',
        'parent=missing',
        'duration>=10ms',
        'duration<1s',
        'trace=0AF7651916CD43DD8448EB211C80319C',
        'http.route=/a=b',
        'attribute.name=x',
      ]),
    ).toEqual({
      name: 'GET *',
      service: 'api',
      status: 'error',
      kind: 'server',
      unfinished: true,
      missingParent: true,
      minDuration: 10e6,
      maxDuration: 1e9 - 1,
      traceId: '0af7651916cd43dd8448eb211c80319c',
      attributes: [
        { name: 'http.route', value: '/a=b' },
        { name: 'name', value: 'x' },
      ],
    });
  });

  it('has words for what needs no value', () => {
    expect(parseWhere(['unfinished', 'missing-parent'])).toEqual({
      unfinished: true,
      missingParent: true,
    });
    expect(() => parseWhere(['unfinished', 'unfinished=false'])).toThrow('no other --where');
  });

  it('refuses what is no condition', () => {
    for (const wrong of ['name', '=x', 'status=bad', 'duration=1s', 'duration>x', 'trace=1']) {
      expect(() => parseWhere([wrong]), wrong).toThrow('--where must be');
    }
    expect(() => parseWhere(['name=a', 'name=b'])).toThrow('no other --where');
    expect(() => parseWhere(['duration>100'])).toThrow(
      'a duration with a unit (ns, us, ms, s, m, h or d), such as duration>100ms, got "duration>100"',
    );
    expect(() => parseWhere(['status=500'])).toThrow('or http.response.status_code=500, got');
  });

  it('selects spans', () => {
    expect(meets(['name=GET *', 'kind=server'])).toBe(true);
    expect(meets(['name=GET'])).toBe(false);
    expect(meets(['status=error'])).toBe(false);
    expect(meets(['duration>=100ns'])).toBe(true);
    expect(meets(['duration>100ns'])).toBe(false);
    expect(meets(['unfinished=true'], { unfinished: true })).toBe(true);
    expect(meets(['a=1', 'b=[x,2]'], { attributes: { a: 1, b: ['x', 2] } })).toBe(true);
    expect(meets(['a=1.0', 'b=x', 'b=2'], { attributes: { a: 1, b: ['x', 2] } })).toBe(true);
    expect(meets(['toString=1'])).toBe(false);
    const resource = { schemaUrl: '', attributes: { 'service.name': 'api' } };
    expect(meets(['service=api'], { resource })).toBe(true);
    expect(meets(['service=api'])).toBe(false);
  });

  it('selects what overlaps a range, instants at its start included', () => {
    const within = (from: number, to: number, fields: Partial<SpanRecord> = {}): boolean =>
      spanCondition({ from, to }, EPOCH)(someSpan(fields));
    expect([within(0, 100), within(0, 101), within(199, 300), within(200, 300)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(within(100, 101, { end: EPOCH + 100n })).toBe(true);
  });
});

describe('a pattern of a name', () => {
  it('has * for any text', () => {
    expect(textPattern('a*b*c')('a-b-b-c')).toBe(true);
    expect(textPattern('a*b*c')('a-c')).toBe(false);
    expect(textPattern('ab*ba')('aba')).toBe(false);
    expect(textPattern('*')('')).toBe(true);
    expect(textPattern('*.*')('x')).toBe(false);
  });

  it('is linear in a hostile text', () => {
    const matches = textPattern(`${'*a'.repeat(5000)}*b`);
    expect(matches('a'.repeat(200_000))).toBe(false);
  });
});
