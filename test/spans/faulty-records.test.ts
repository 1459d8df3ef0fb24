import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TraceFormatError } from '../../src/core/errors.js';
import type { TracewrightError } from '../../src/core/errors.js';
import type { Attribute } from '../../src/heph/packet.js';
import { TraceChecker } from '../../src/traces/check-found.js';
import { findTraces } from '../../src/traces/find-traces.js';
import { encodeEpoch, encodeEvent, someEvent } from '../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../heph/temporary-file.js';
import { encodeResource, encodeSpan } from '../export/span-file.js';
import { allSpans } from './span-trace.js';

const directory = temporaryDirectory();
const EPOCH = 1_700_000_000_000_000_000n;
const IN_RESOURCE = 1n | (1n << 16n);

const u64 = (name: string, value: bigint): Attribute => ({ name, type: 'u64', value });
const f64 = (name: string, value: number): Attribute => ({ name, type: 'f64', value });
const text = (name: string, value: string): Attribute => ({ name, type: 'string', value });

const clockRecord = (...attributes: Attribute[]): Buffer =>
  encodeEvent(
    someEvent({
      start: 50n,
      end: 50n,
      description: 'tracewright.clock',
      attributes: [u64('~v', 1n), ...attributes],
    }),
  );

const span = (id: bigint, attributes: Attribute[] = []): Buffer =>
  encodeSpan({ id, start: id * 10n, end: id * 10n + 5n, flags: IN_RESOURCE, attributes });

const definition = (description: string, ...attributes: Attribute[]): Buffer =>
  encodeEvent(someEvent({ stream: 0xffff_ffff, counter: 1, description, attributes }));

/** The last attribute, of eight bytes, gets a type that there is not. */
function withUnknownType(record: Buffer): Buffer {
  record[record.length - 9] = 9;
  return record;
}

/** Records that Heph accepts and the contract does not, and what the fault names. */
const FAULTY: Record<string, { record: Buffer; names: RegExp }> = {
  'the wall clock of a clock record as f64': {
    record: clockRecord(f64('realtime', 0.5)),
    names: /"realtime" is f64; want u64 or i64/,
  },
  'the wall clock of a clock record as NaN': {
    record: clockRecord(f64('realtime', NaN)),
    names: /"realtime" is f64/,
  },
  'the wall clock of a clock record as text': {
    record: clockRecord(text('realtime', 'now')),
    names: /"realtime" is a string/,
  },
  'a version as text': {
    record: definition('tracewright.resource', text('~v', 'version 1')),
    names: /"~v" is a string; want u64/,
  },
  'a resource whose version is not first': {
    record: definition('tracewright.resource', text('a', 'b'), u64('~v', 1n)),
    names: /the first attribute is another one; want a u64 "~v"/,
  },
  'a clock record without attributes': {
    record: encodeEvent(someEvent({ description: 'tracewright.clock', attributes: [] })),
    names: /the first attribute is another one/,
  },
  'a version that is later': {
    record: definition('tracewright.resource', u64('~v', 9n)),
    names: /version 9 of their contract/,
  },
  'the name of a scope as array': {
    record: definition('tracewright.scope', u64('~v', 1n), {
      name: '~c',
      type: 'string[]',
      value: ['a'],
    }),
    names: /"~c" is an array; want a string/,
  },
  'a bigint that is a fraction': {
    record: span(2n, [f64('n', 1.5), text('~#', '')]),
    names: /"n" is no integer/,
  },
  'a bigint that is infinite': {
    record: span(2n, [f64('n', Infinity), text('~#', '')]),
    names: /"n" is no integer/,
  },
  'a count of elements that is a fraction': {
    record: span(2n, [f64('list', 0.5), text('~[', '')]),
    names: /"list" is no count of its elements/,
  },
  'a count of elements that is negative': {
    record: span(2n, [{ name: 'list', type: 'i64', value: -1n }, text('~[', '')]),
    names: /"list" is no count of its elements/,
  },
  'a real start as f64': { record: span(2n, [f64('~b', 1.5)]), names: /"~b" is f64/ },
  'a count of dropped attributes as text': {
    record: span(2n, [text('~a', 'many')]),
    names: /"~a" is a string; want u64/,
  },
  'a message of the status as number': { record: span(2n, [u64('~m', 1n)]), names: /"~m" is u64/ },
  'a link without its trace': { record: span(2n, [text('~L', '')]), names: /"~L" is a string/ },
  'the time of an event as text': {
    record: span(2n, [text('~E', 'event'), text('~d', 'late')]),
    names: /"~d" is a string/,
  },
  'attributes that the format does not know': {
    record: withUnknownType(span(2n, [u64('x', 1n)])),
    names: /unknown type/,
  },
};

describe.each(Object.entries(FAULTY))('%s', (name, { record, names }) => {
  const before = [encodeEpoch(EPOCH), encodeResource({ 'service.name': 'shop' }), span(1n)];
  const offset = before.reduce((sum, { length }) => sum + length, 0);
  const path = writeTrace(directory, `${name}.heph`, ...before, record, span(3n));

  it('readSpans throws a typed error with the place', async () => {
    const error: unknown = await allSpans(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TraceFormatError);
    expect(error).toMatchObject({ path, offset });
    expect((error as TraceFormatError).message).toMatch(names);
  });

  it('readSpans reads on and reports it, with onFault', async () => {
    const faults: TracewrightError[] = [];
    const spans = await allSpans(path, { onFault: (fault) => faults.push(fault) });
    expect(spans.map(({ spanId }) => spanId.at(-1))).toEqual(['1', '3']);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({ code: 'ERR_TRACE_FORMAT', path, offset });
  });

  it('check finds it', () => {
    const [trace] = findTraces([path]);
    const { findings } = new TraceChecker([]).check(trace!, {});
    const errors = [...findings].filter(({ severity }) => severity === 'error');
    expect(errors).toEqual([expect.objectContaining({ path, offset })]);
    expect(errors[0]!.message).toMatch(names);
  });
});

describe('readSpans with onFault', () => {
  const good = [encodeEpoch(EPOCH), span(1n)];

  it('reads the files after one that is damaged, and those before its damage', async () => {
    const place = join(directory, 'several');
    mkdirSync(place);
    const damaged = writeTrace(place, 'a.heph', ...good, Buffer.from('no packet at all'));
    writeTrace(place, 'b.heph', ...good);
    mkdirSync(join(place, 'c.heph'));
    const faults: TracewrightError[] = [];
    const spans = await allSpans(place, { onFault: (fault) => faults.push(fault) });
    expect(spans).toHaveLength(2);
    expect(faults).toEqual([expect.objectContaining({ path: damaged, field: 'magic' })]);
    await expect(allSpans(place)).rejects.toThrow(TraceFormatError);
  });

  it.skipIf(process.getuid?.() === 0)('reports a directory that it may not read', async () => {
    const place = join(directory, 'locked');
    mkdirSync(join(place, 'inner'), { recursive: true });
    writeTrace(place, 'z.heph', ...good);
    chmodSync(join(place, 'inner'), 0);
    const faults: TracewrightError[] = [];
    expect(await allSpans(place, { onFault: (fault) => faults.push(fault) })).toHaveLength(1);
    expect(faults).toEqual([expect.objectContaining({ code: 'ERR_SYSTEM' })]);
  });

  it('ends with what the function throws, and refuses anything else', async () => {
    const path = writeTrace(directory, 'ends.heph', ...good, Buffer.from('no packet at all'));
    const onFault = (): never => {
      throw new Error('enough');
    };
    await expect(allSpans(path, { onFault })).rejects.toThrow('enough');
    await expect(allSpans(path, { onFault: 1 as never })).rejects.toThrow(/onFault must be/);
    await expect(
      allSpans(join(directory, 'missing.heph'), { onFault: () => undefined }),
    ).rejects.toThrow(/ENOENT/);
  });
});

it.each(['~t', '~s', '~p', '~f'])('check finds a span whose %s is damaged', (name) => {
  const before = encodeEpoch(EPOCH);
  const record = span(2n);
  const at = record.indexOf(name);
  for (const [number, byte] of [at, at + 1, at + 2].entries()) {
    const damaged = Buffer.from(record);
    damaged[byte]! ^= 0x02;
    const path = writeTrace(directory, `identity-${name[1]!}-${number}.heph`, before, damaged);
    const [trace] = findTraces([path]);
    const { findings } = new TraceChecker([]).check(trace!, {});
    const errors = [...findings].filter(({ severity }) => severity === 'error');
    expect(errors).toEqual([expect.objectContaining({ path, offset: before.length })]);
  }
});

it('names a process only by a number that can be one', async () => {
  const resource = definition('tracewright.resource', u64('~v', 1n), f64('process.pid', 1.5));
  const path = writeTrace(directory, 'pid.heph', encodeEpoch(EPOCH), resource, span(1n));
  const [read] = await allSpans(path);
  expect(read?.pid).toBeUndefined();
  expect(read?.resource?.attributes['process.pid']).toBe(1.5);
});
