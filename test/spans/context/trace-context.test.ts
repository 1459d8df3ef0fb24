import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatBaggage, parseBaggage } from '../../../src/spans/context/baggage.js';
import { checkTraceState, parseTraceParent } from '../../../src/spans/context/trace-context.js';
import { extract, getBaggage, inject, withBaggage } from '../../../src/spans/propagation.js';
import { withSpan } from '../../../src/spans/active-span.js';
import { startSpan } from '../../../src/spans/start-span.js';

const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.constantFrom(...'0123456789abcdef'.split('')),
    minLength: length,
    maxLength: length,
  });
const traceId = hex(32).filter((id) => !/^0+$/.test(id));
const spanId = hex(16).filter((id) => !/^0+$/.test(id));

test('a valid traceparent is passed on with its ids', () => {
  fc.assert(
    fc.property(traceId, spanId, hex(2), (trace, span, flags) => {
      const header = `00-${trace}-${span}-${flags}`;
      const remote = extract({ TraceParent: header })!;
      expect(remote.ids).toMatchObject({ trace_id: trace, span_id: span });
      // Bits that mean nothing yet are sent as 0.
      const kept = (Number.parseInt(flags, 16) & 3).toString(16).padStart(2, '0');
      withSpan(
        'x',
        undefined,
        () => {
          expect(inject({})).toEqual({ traceparent: `00-${trace}-${span}-${kept}` });
        },
        { parent: remote },
      );
    }),
  );
});

test('later versions count as far as they are known', () => {
  const rest = '-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(parseTraceParent(`cc${rest}`)).toBeDefined();
  expect(parseTraceParent(`cc${rest}-what-the-future-brings`)).toBeDefined();
});

test.each([
  ['version ff', 'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ['more than version 00 has', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x'],
  ['a trace id of zeros', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
  ['a span id of zeros', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01'],
  ['capitals', '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01'],
  ['a short id', '00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01'],
  ['later version, no dash', 'cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x'],
  ['nothing', ''],
])('a traceparent with %s is ignored', (_, header) => {
  expect(extract({ traceparent: header })).toBeUndefined();
});

test('what is no traceparent never throws', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
      extract({ traceparent: a, tracestate: b, baggage: c });
      extract({ traceparent: [a, b], tracestate: [b, c], baggage: [c] });
    }),
  );
});

/** Whether a header is a traceparent, read off the rules of W3C Trace Context, character by character. */
function isTraceParent(header: string): boolean {
  const isHex = (from: number, to: number): boolean =>
    header.length >= to &&
    Array.from(header.slice(from, to)).every((digit) => '0123456789abcdef'.includes(digit));
  const isZero = (from: number, to: number): boolean => /^0*$/.test(header.slice(from, to));
  const version = header.slice(0, 2);
  return (
    isHex(0, 2) &&
    version !== 'ff' &&
    [2, 35, 52].every((at) => header[at] === '-') &&
    isHex(3, 35) &&
    !isZero(3, 35) &&
    isHex(36, 52) &&
    !isZero(36, 52) &&
    isHex(53, 55) &&
    (version === '00' ? header.length === 55 : header.length === 55 || header[55] === '-')
  );
}

test('a traceparent that was changed anywhere counts if the rules allow it', () => {
  const version = fc.constantFrom('00', '01', 'cc', 'fe', 'ff');
  const change = fc.record({
    at: fc.nat(60),
    remove: fc.nat(3),
    insert: fc.string({
      unit: fc.constantFrom(...'0123456789abcdefABCDEFg-_ '.split('')),
      maxLength: 3,
    }),
  });
  let valid = 0;
  fc.assert(
    fc.property(version, traceId, spanId, hex(2), change, (first, trace, span, flags, edit) => {
      const whole = `${first}-${trace}-${span}-${flags}`;
      const header = whole.slice(0, edit.at) + edit.insert + whole.slice(edit.at + edit.remove);
      const isValid = isTraceParent(header.trim());
      if (isValid) valid++;
      expect(extract({ traceparent: header }) !== undefined).toBe(isValid);
    }),
    { numRuns: 3000 },
  );
  expect(valid).toBeGreaterThan(50);
});

test('two traceparents are none', () => {
  const header = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(extract({ traceparent: [header, header] })).toBeUndefined();
  expect(extract({ traceparent: [header] })).toBeDefined();
});

const key = fc.stringMatching(/^[a-z][a-z0-9_*/-]{0,20}$/);
const value = fc.stringMatching(/^[ -+\--<>-~]{0,20}[!-+\--<>-~]$/);

test('a tracestate is kept in its order, without members that are not valid', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(key, value), { selector: ([k]) => k, maxLength: 32 }),
      (members) => {
        const state = members.map(([k, v]) => `${k}=${v.trimStart()}`);
        expect(checkTraceState(state.join(' , \t'))).toBe(state.join(','));
      },
    ),
  );
  expect(checkTraceState('a=1,a=2,b=3')).toBe('a=1,b=3');
  expect(checkTraceState('a=1,B=2,0tenant@b@c=3,d=')).toBe('a=1,0tenant@b@c=3');
  expect(checkTraceState('A=1')).toBe('');
  expect(checkTraceState('a=1,,b=2')).toBe('a=1,b=2');
  expect(checkTraceState('tenant@vendor=1')).toBe('tenant@vendor=1');
  expect(checkTraceState('a=b=c')).toBe('');
  expect(checkTraceState(`a=${'x'.repeat(300)},b=1`)).toBe('b=1');
  const many = Array.from({ length: 33 }, (_, i) => `k${i}=1`);
  expect(checkTraceState(many.join(','))).toBe(many.slice(0, 32).join(','));
  const decided = [...many.slice(0, 30), 'ot=th:8', 'tracewright=keep'];
  expect(checkTraceState([...many, 'ot=th:8', 'tracewright=keep'].join(','))).toBe(
    decided.join(','),
  );
});

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);

test('baggage comes through a header as it was', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(token, fc.string({ unit: 'grapheme', maxLength: 12 })), {
        selector: ([name]) => name,
        maxLength: 10,
      }),
      (entries) => {
        const given = Object.fromEntries(entries.filter(([name]) => name !== '__proto__'));
        const header = formatBaggage(given);
        expect(header).toMatch(/^[\x21-\x7e]*$/);
        expect({ ...parseBaggage(header) }).toEqual(given);
      },
    ),
  );
});

test('properties and invalid entries of baggage are ignored', () => {
  expect({ ...parseBaggage('a=1;p=2 , b = x%20y,no, c d=1,e="q"') }).toEqual({ a: '1', b: 'x y' });
  expect({ ...parseBaggage('a=%ff') }).toEqual({ a: '\ufffd' });
  expect(parseBaggage(`a=${'x'.repeat(9000)}`)).toBeUndefined();
  expect(parseBaggage(`a=1,b=2,c=${'x'.repeat(9000)},d=4`)).toEqual({
    a: '1',
    b: '2',
    d: '4',
  });
  expect(formatBaggage({ a: 'x'.repeat(9000), b: '1' })).toBe('b=1');
});

test('withBaggage adds to what is active, with no span too', () => {
  withBaggage({ a: '1', b: '2' }, () => {
    withBaggage({ b: '3' }, () => {
      expect({ ...getBaggage() }).toEqual({ a: '1', b: '3' });
      expect(inject(new Map())).toEqual(new Map([['baggage', 'a=1,b=3']]));
    });
    expect({ ...getBaggage() }).toEqual({ a: '1', b: '2' });
  });
  expect({ ...getBaggage() }).toEqual({});
  expect(() => withBaggage({ 'a b': '1' }, () => 1)).toThrow(/name of baggage/);
  expect(() => withBaggage({ a: 1 } as never, () => 1)).toThrow(/baggage a must be a string/);
});

test('a carrier is checked', () => {
  expect(() => inject(null as never)).toThrow(/carrier/);
  expect(() => extract('x' as never)).toThrow(/carrier/);
  expect(() => startSpan('x', undefined, { parent: {} as never })).toThrow(/parent must be/);
});
