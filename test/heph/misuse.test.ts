import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TracewrightError } from '../../src/core/errors.js';
import * as heph from '../../src/heph/index.js';
import type { Stream, Timing, Trace } from '../../src/heph/index.js';
import { eventsOf, findingsOf } from './packets-of-file.js';
import { temporaryDirectory } from './temporary-file.js';

/** Whatever a caller without types may pass. */
type Loose = (...values: unknown[]) => unknown;

/** A wrong call: its words, the arguments, the code and the field. */
type Row = [what: string, values: unknown[], code: string, field: string];

const TYPE = 'ERR_ARGUMENT_TYPE';
const RANGE = 'ERR_ARGUMENT_RANGE';
const CLOSED = 'ERR_CLOSED';

const directory = temporaryDirectory();
const unused = join(directory, 'unused.heph');
const long = 'x'.repeat(65_536);

function refuses(call: () => unknown, code: string, field: string): void {
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(TracewrightError);
  const error = thrown as TracewrightError;
  expect({ code: error.code, field: error.field }).toEqual({ code, field });
  if (code === CLOSED) return;
  expect(error.limit).toBeTypeOf('string');
  expect('value' in error).toBe(true);
}

/** Wrong calls of exported functions. */
const exported: Partial<Record<keyof typeof heph, Row[]>> = {
  openTrace: [
    ['nothing', [], TYPE, 'target'],
    ['number', [5], TYPE, 'target'],
    ['null', [null], TYPE, 'target'],
    ['an object that says nothing', [{}], TYPE, 'target'],
    ['two at once', [{ file: 'a', unix: 'b' }], RANGE, 'target'],
    ['empty name', [''], TYPE, 'target.file'],
    ['file of a wrong type', [{ file: 5 }], TYPE, 'target.file'],
    ['NUL', ['a\0b'], RANGE, 'target.file'],
    ['UDP without a port', ['udp://localhost'], RANGE, 'target'],
    ['port 0', ['udp://localhost:0'], RANGE, 'target.udp.port'],
    ['port beyond 65,535', ['tcp://localhost:65536'], RANGE, 'target.tcp.port'],
    ['port of a wrong type', [{ tcp: { host: 'a', port: '80' } }], TYPE, 'target.tcp.port'],
    ['no host', [{ udp: { port: 80 } }], TYPE, 'target.udp.host'],
    ['unix path too long', [{ unix: `/${'x'.repeat(120)}` }], RANGE, 'target.unix'],
    ['unix path empty', ['unix:'], TYPE, 'target.unix'],
    ['options null', [unused, null], TYPE, 'options'],
    ['options of a wrong type', [unused, 'replace'], TYPE, 'options'],
    ['an option misspelt', [unused, { ringbytes: 65536 }], RANGE, 'option'],
    ['exists', [unused, { exists: 'append' }], RANGE, 'exists'],
    ['enabled', [unused, { enabled: 1 }], TYPE, 'enabled'],
    ['datagramBytes small', [unused, { datagramBytes: 63 }], RANGE, 'datagramBytes'],
    ['datagramBytes large', [unused, { datagramBytes: 65_508 }], RANGE, 'datagramBytes'],
    ['datagramBytes type', [unused, { datagramBytes: '1400' }], TYPE, 'datagramBytes'],
    ['flushTimeoutMs', [unused, { flushTimeoutMs: -1 }], RANGE, 'flushTimeoutMs'],
    ['flushTimeoutMs type', [unused, { flushTimeoutMs: null, enabled: 1 }], TYPE, 'enabled'],
    ['ringBytes', [unused, { ringBytes: 1 }], RANGE, 'ringBytes'],
    ['onFull', [unused, { onFull: 'overwrite' }], RANGE, 'onFull'],
    ['clock', [unused, { clock: 5 }], TYPE, 'clock'],
    [
      'ringDir that is not there',
      [unused, { ringDir: join(directory, 'no') }],
      'ERR_SYSTEM',
      'ringDir',
    ],
    ['directory that is not there', [join(directory, 'no', 'x.heph')], 'ERR_SYSTEM', 'target'],
    ['a directory', [directory], 'ERR_TRACE_EXISTS', 'target'],
    ['below a file', [join(directory, 'file', 'x.heph')], 'ERR_SYSTEM', 'target'],
  ],
  piecesOf: [
    ['nothing', [], TYPE, 'path'],
    ['directory that is not there', [join(directory, 'no', 'x.heph')], 'ERR_SYSTEM', 'path'],
  ],
  u64: [
    ['string', ['5'], TYPE, 'u64'],
    ['nothing', [], TYPE, 'u64'],
    ['negative', [-1], RANGE, 'u64'],
    ['fraction', [0.5], RANGE, 'u64'],
    ['unsafe', [2 ** 53], RANGE, 'u64'],
    ['65 bits', [2n ** 64n], RANGE, 'u64'],
    ['in an array', [[1, -1]], RANGE, 'u64[1]'],
    ['long array', [new Uint8Array(65_536)], RANGE, 'u64'],
  ],
  i64: [
    ['beyond', [2n ** 63n], RANGE, 'i64'],
    ['below', [-(2n ** 63n) - 1n], RANGE, 'i64'],
    ['NaN', [NaN], RANGE, 'i64'],
    ['null', [null], TYPE, 'i64'],
  ],
  f64: [
    ['bigint', [1n], TYPE, 'f64'],
    ['string in an array', [[1, '2']], TYPE, 'f64[1]'],
  ],
};

/** Exports that cannot be called wrongly, or that other test files cover. */
const elsewhere = new Set<string>([
  'TracewrightError',
  'TraceFormatError',
  // The read side: reader.test.ts, check.test.ts and others.
  'PacketDecoder',
  'PacketReceiver',
  'checkTrace',
  'decodePacket',
  'readPackets',
  'recoverTrace',
  'readEpoch',
]);

it('every exported function has a row', () => {
  const missing = Object.keys(heph).filter((name) => !(name in exported) && !elsewhere.has(name));
  expect(missing).toEqual([]);
});

describe('exported functions', () => {
  beforeAll(() => {
    writeFileSync(join(directory, 'file'), '');
  });

  const rows = Object.entries(exported).flatMap(([name, list]) =>
    list.map((row): [string, ...Row] => [name, ...row]),
  );
  it.each(rows)('%s: %s', (name, _what, values, code, field) => {
    const call = (heph as unknown as Record<string, Loose>)[name]!;
    if (code === 'ERR_SYSTEM' || code === 'ERR_TRACE_EXISTS') {
      expect(() => call(...values)).toThrow(
        expect.objectContaining({ name: 'TracewrightError', code, field }),
      );
    } else {
      refuses(() => call(...values), code, field);
    }
  });

  it('leave no file behind', () => {
    expect(() => readFileSync(unused)).toThrow();
  });
});

/** Wrong calls of the methods of a trace, a stream and a span, while the trace is open. */
const methods: Record<'stream' | 'finishTrace' | 'span' | 'finish' | 'finishIn', Row[]> = {
  stream: [
    ['string', ['1'], TYPE, 'id'],
    ['null', [null], TYPE, 'id'],
    ['negative', [-1], RANGE, 'id'],
    ['33 bits', [2 ** 32], RANGE, 'id'],
    ['fraction', [0.5], RANGE, 'id'],
  ],
  finishTrace: [
    ['timing as a string', ['5', 'x'], TYPE, 'timing'],
    ['timing null', [null, 'x'], TYPE, 'timing'],
    ['timing as a bigint', [5n, 'x'], TYPE, 'timing'],
    ['timing as an array', [[], 'x'], TYPE, 'timing'],
    ['timing NaN', [NaN, 'x'], RANGE, 'timing'],
    ['timing negative', [-1, 'x'], RANGE, 'timing'],
    ['timing of the future', [Number.MAX_SAFE_INTEGER, 'x'], RANGE, 'timing'],
    ['no description', [0], TYPE, 'description'],
    ['description of a wrong type', [0, 5], TYPE, 'description'],
    ['description too long', [0, long], RANGE, 'description'],
    ['attributes as a string', [0, 'x', 'abc'], TYPE, 'attributes'],
    ['attributes null', [0, 'x', null], TYPE, 'attributes'],
    ['attributes as a map', [0, 'x', new Map()], TYPE, 'attributes'],
    ['attributes as a list', [0, 'x', [1]], TYPE, 'attributes'],
    ['attribute name too long', [0, 'x', { [long]: 1 }], RANGE, 'attribute name'],
    ['attribute null', [0, 'x', { a: null }], TYPE, 'a'],
    ['attribute object', [0, 'x', { a: {} }], TYPE, 'a'],
    ['attribute function', [0, 'x', { a: () => 1 }], TYPE, 'a'],
    ['attribute symbol', [0, 'x', { a: Symbol('x') }], TYPE, 'a'],
    ['attribute DataView', [0, 'x', { a: new DataView(new ArrayBuffer(8)) }], TYPE, 'a'],
    ['attribute text too long', [0, 'x', { a: long }], RANGE, 'a'],
    ['attribute bigint too large', [0, 'x', { a: 2n ** 64n }], RANGE, 'a'],
    ['attribute bigint too small', [0, 'x', { a: -(2n ** 63n) - 1n }], RANGE, 'a'],
    ['array of two types', [0, 'x', { a: [1, 'x'] }], TYPE, 'a[1]'],
    ['array of nothings', [0, 'x', { a: [undefined] }], TYPE, 'a[0]'],
    ['array of integers that fit no type', [0, 'x', { a: [-1n, 2n ** 63n] }], RANGE, 'a[1]'],
    ['array too long', [0, 'x', { a: new Array(65_536).fill(1) }], RANGE, 'a'],
    ['substream negative', [0, 'x', {}, -1], RANGE, 'substream'],
    ['substream unsafe', [0, 'x', {}, 2 ** 53], RANGE, 'substream'],
    ['substream of 65 bits', [0, 'x', {}, 2n ** 64n], RANGE, 'substream'],
    ['substream as a string', [0, 'x', {}, '1'], TYPE, 'substream'],
    ['substream null', [0, 'x', {}, null], TYPE, 'substream'],
  ],
  span: [
    ['nothing', [], TYPE, 'description'],
    ['no schema', ['x'], TYPE, 'schema'],
    ['schema null', ['x', null], TYPE, 'schema'],
    ['schema as a list of numbers', ['x', [5]], TYPE, 'schema'],
    ['schema with a hole', ['x', [null]], TYPE, 'schema'],
    ['unknown type', ['x', { a: 'u32' }], RANGE, 'type of a'],
    ['inherited type', ['x', { a: 'toString' }], RANGE, 'type of a'],
    ['type that is none', ['x', { a: 5 }], RANGE, 'type of a'],
    ['name of a wrong type', ['x', [[5, 'u64']]], TYPE, 'attribute name'],
    ['integer as a name', ['x', { 5: 'u64' }], RANGE, 'attribute name'],
    ['name too long', ['x', { [long]: 'u64' }], RANGE, 'attribute name'],
    ['description too long', [long, {}], RANGE, 'description'],
  ],
  finish: [
    ['timing as a string', ['5', 'a', 1, 1, 1, []], TYPE, 'timing'],
    ['timing as a bigint', [5n, 'a', 1, 1, 1, []], TYPE, 'timing'],
    ['timing of the future', [1e15, 'a', 1, 1, 1, []], RANGE, 'timing'],
    ['no values', [0], TYPE, 's'],
    ['a value missing', [0, 'a', 1, 1, 1], TYPE, 'l'],
    ['text of a wrong type', [0, 5, 1, 1, 1, []], TYPE, 's'],
    ['text too long', [0, long, 1, 1, 1, []], RANGE, 's'],
    ['negative u64', [0, 'a', -1, 1, 1, []], RANGE, 'u'],
    ['fraction as u64', [0, 'a', 1.5, 1, 1, []], RANGE, 'u'],
    ['text as u64', [0, 'a', '1', 1, 1, []], TYPE, 'u'],
    ['i64 too large', [0, 'a', 1, 2n ** 63n, 1, []], RANGE, 'i'],
    ['null as i64', [0, 'a', 1, null, 1, []], TYPE, 'i'],
    ['bigint as f64', [0, 'a', 1, 1, 1n, []], TYPE, 'f'],
    ['no list', [0, 'a', 1, 1, 1, 5], TYPE, 'l'],
    ['list of a wrong type', [0, 'a', 1, 1, 1, [1]], TYPE, 'l[0]'],
    ['list too long', [0, 'a', 1, 1, 1, new Array(65_536).fill('')], RANGE, 'l'],
  ],
  finishIn: [
    ['substream negative', [-1, 0, 'a', 1, 1, 1, []], RANGE, 'substream'],
    ['substream as a string', ['1', 0, 'a', 1, 1, 1, []], TYPE, 'substream'],
    ['substream missing', [undefined, 0, 'a', 1, 1, 1, []], TYPE, 'substream'],
  ],
};

const schema = [
  ['s', 'string'],
  ['u', 'u64'],
  ['i', 'i64'],
  ['f', 'f64'],
  ['l', 'string[]'],
] as const;

describe('methods', () => {
  const path = join(directory, 'methods.heph');
  let trace: Trace;
  let stream: Stream;

  beforeAll(() => {
    trace = heph.openTrace(path);
    stream = trace.stream(0);
    stream.finishTrace(stream.startTrace(), 'first');
  });

  const rows = Object.entries(methods).flatMap(([name, list]) =>
    list.map((row): [string, ...Row] => [name, ...row]),
  );
  it.each(rows)('%s: %s', (name, _what, values, code, field) => {
    const span = stream.span('x', schema);
    const owner =
      name === 'stream'
        ? trace
        : name.startsWith('finish') && name !== 'finishTrace'
          ? span
          : stream;
    const call = (owner as unknown as Record<string, Loose>)[name]!;
    refuses(() => call.apply(owner, values), code, field);
  });

  it('every method has a row, or takes nothing', () => {
    const covered = new Set([...Object.keys(methods), 'constructor']);
    const takesNothing = ['startTrace', 'flush', 'close', 'stats'];
    const internal = [
      'refuseIfClosed',
      'nothing',
      'record',
      'refuse',
      'checkTiming',
      'define',
      'streamOfOpenEvents',
    ];
    const names = [trace, stream].flatMap((object) =>
      Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object) as object))
        .filter(([, { value }]) => typeof value === 'function')
        .map(([name]) => name),
    );
    expect(
      names.filter((name) => !covered.has(name) && ![...takesNothing, ...internal].includes(name)),
    ).toEqual([]);
    expect(Object.keys(stream.span('x', {}))).toEqual(
      expect.arrayContaining(['finish', 'finishIn']),
    );
  });

  it('after close', async () => {
    const span = stream.span('x', {});
    const timing = stream.startTrace();
    stream.finishTrace(stream.startTrace(), 'last');
    await trace.close();
    await trace.close();
    for (const call of [
      () => trace.stream(),
      () => trace.stream(0),
      () => stream.startTrace(),
      () => {
        stream.finishTrace(timing, 'late');
      },
      () => {
        span.finish(timing);
      },
      () => {
        span.finishIn(1, timing);
      },
      () => {
        stream.finishTrace(timing, 'late', { a: Array<string>(30).fill('x'.repeat(65_535)) });
      },
    ]) {
      refuses(call, CLOSED, 'trace');
    }
    await expect(trace.flush()).rejects.toMatchObject({ code: CLOSED });
    expect(trace.stats()).toMatchObject({ recorded: 2, written: { events: 2 } });
  });

  afterAll(() => {
    // Nothing of all this is in the trace, and no counter was used up.
    expect(findingsOf(path)).toEqual([]);
    expect(eventsOf(path).map(({ description, counter }) => [description, counter])).toEqual([
      ['first', 0],
      ['last', 1],
    ]);
  });
});

describe('enabled: false', () => {
  it('opens nothing, does nothing, and says so', async () => {
    const path = join(directory, 'disabled.heph');
    const trace = heph.openTrace(path, { enabled: false });
    const stream = trace.stream();
    const timing = stream.startTrace();
    expect(timing).toBeUndefined();
    stream.finishTrace(timing, 'x', { a: 1 });
    stream.span('x', schema).finish(timing, 'a', 1, 1, 1, []);
    await trace.flush();
    expect(trace.stats()).toMatchObject({ recorded: 0, errors: 0 });
    await trace.close();
    await trace.close();
    expect(() => readFileSync(path)).toThrow();
    refuses(() => stream.startTrace(), CLOSED, 'trace');
    expect(() => {
      stream.finishTrace(5 as Timing, 'x');
    }).toThrow(TracewrightError);
  });

  it('checks its options all the same', () => {
    refuses(() => heph.openTrace(5 as never, { enabled: false }), TYPE, 'target');
    refuses(() => heph.openTrace(unused, { enabled: false, ringBytes: 1 }), RANGE, 'ringBytes');
  });
});
