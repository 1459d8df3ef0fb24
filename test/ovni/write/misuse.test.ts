import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TracewrightError } from '../../../src/core/errors.js';
import * as ovni from '../../../src/ovni/index.js';
import { eventsOf, findingsOf, streamsOf } from '../stream-content.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

/** Whatever a caller without types may pass. */
type Loose = (...values: unknown[]) => unknown;

/** A wrong call: its words, the arguments, the code, the field, and whether a limit is named. */
type Row = [what: string, values: unknown[], code: string, field: string];

const TYPE = 'ERR_ARGUMENT_TYPE';
const RANGE = 'ERR_ARGUMENT_RANGE';
const ORDER = 'ERR_ORDER';

const circle: Record<string, unknown> = {};
circle['self'] = circle;
const long = 'x'.repeat(512);

/** Wrong calls while a thread traces, by exported function. */
const whileTracing: Partial<Record<keyof typeof ovni, Row[]>> = {
  procInit: [['twice', [1, 'n', 1], ORDER, 'procInit']],
  procSetRank: [
    ['rank of a wrong type', ['0', 2], TYPE, 'rank'],
    ['ranks of a wrong type', [0, null], TYPE, 'nranks'],
    ['negative', [-1, 2], RANGE, 'rank'],
    ['rank beyond nranks', [2, 2], RANGE, 'rank'],
    ['no rank at all', [0, 0], RANGE, 'nranks'],
    ['fraction', [0.5, 2], RANGE, 'rank'],
    ['too large', [0, 2 ** 31], RANGE, 'nranks'],
  ],
  addCpu: [
    ['string', ['0', 0], TYPE, 'index'],
    ['missing', [0], TYPE, 'phyid'],
    ['negative', [-1, 0], RANGE, 'index'],
    ['NaN', [5, NaN], RANGE, 'phyid'],
    ['the index of another', [0, 7], RANGE, 'index'],
    ['the number of another', [7, 0], RANGE, 'phyid'],
  ],
  threadInit: [['twice', [], ORDER, 'threadInit']],
  threadRequire: [
    ['number', [5, '1.0.0'], TYPE, 'model'],
    ['too short', ['x', '1.0.0'], RANGE, 'model'],
    ['too long', ['x'.repeat(115), '1.0.0'], RANGE, 'model'],
    ['dot', ['a.b', '1.0.0'], RANGE, 'model'],
    ['blank', ['a b', '1.0.0'], RANGE, 'model'],
    ['NUL', ['a\0b', '1.0.0'], RANGE, 'model'],
    ['version missing', ['nosv'], TYPE, 'version'],
    ['version short', ['nosv', '1.0'], RANGE, 'version'],
    ['version with letters', ['nosv', '1.0.x'], RANGE, 'version'],
  ],
  emit: [
    ['no MCV', [], TYPE, 'mcv'],
    ['two characters', ['OB'], RANGE, 'mcv'],
    ['four characters', ['OB..'], RANGE, 'mcv'],
    ['not ASCII', ['OBä'], RANGE, 'mcv'],
    ['blank', ['OB '], RANGE, 'mcv'],
    ['payload of a wrong type', ['OB.', 'abc'], TYPE, 'payload'],
    ['payload of floats', ['OB.', new Float64Array(1)], TYPE, 'payload'],
    ['payload as an array', ['OB.', [1, 2]], TYPE, 'payload'],
    ['payload of one byte', ['OB.', new Uint8Array(1)], RANGE, 'payload'],
    ['payload of 17 bytes', ['OB.', new Uint8Array(17)], RANGE, 'payload'],
    ['clock as a number', ['OB.', undefined, 5], TYPE, 'clock'],
    ['negative clock', ['OB.', undefined, -1n], RANGE, 'clock'],
    ['clock of 65 bits', ['OB.', undefined, 2n ** 64n], RANGE, 'clock'],
    ['clock that goes back', ['OB.', undefined, 1n], RANGE, 'clock'],
    ['a state that cannot follow', ['OHx'], ORDER, 'OHx'],
    ['without what the emulator demands', ['OAs'], RANGE, 'payload'],
    ['a payload too short', ['OAr', new Uint8Array(4)], RANGE, 'payload'],
    ['another state that cannot follow', ['OHr'], ORDER, 'OHr'],
  ],
  emitJumbo: [
    ['no MCV', [undefined, new Uint8Array(0)], TYPE, 'mcv'],
    ['MCV too long', ['VYcc', new Uint8Array(0)], RANGE, 'mcv'],
    ['no data', ['VYc'], TYPE, 'data'],
    ['data of a wrong type', ['VYc', 'abc'], TYPE, 'data'],
    ['a buffer without a view', ['VYc', new ArrayBuffer(4)], TYPE, 'data'],
    ['clock as a number', ['VYc', new Uint8Array(0), 1], TYPE, 'clock'],
    ['clock that goes back', ['VYc', new Uint8Array(0), 1n], RANGE, 'clock'],
    ['large, clock that goes back', ['VYc', new Uint8Array(4 << 20), 1n], RANGE, 'clock'],
  ],
  event: [
    ['nothing', [], TYPE, 'signature'],
    ['number', [5], TYPE, 'signature'],
    ['too short', ['OH'], RANGE, 'signature'],
    ['unknown type', ['XXa(u128 a)'], RANGE, 'signature'],
    ['too many bytes', ['XXa(u64 a, u64 b, u8 c)'], RANGE, 'signature'],
    ['one byte', ['XXa(u8 a)'], RANGE, 'signature'],
    ['string in a normal event', ['XXa(str a)'], RANGE, 'signature'],
    ['code in place of a name', ['XXa(u32 a;process.exit)'], RANGE, 'signature'],
  ],
  parseSignature: [
    ['nothing', [], TYPE, 'signature'],
    ['no parenthesis', ['OHx(i32 a'], RANGE, 'signature'],
  ],
  attrHas: [
    ['number', [5], TYPE, 'key'],
    ['empty', [''], RANGE, 'key'],
  ],
  attrGet: [
    ['missing', [], TYPE, 'key'],
    ['two dots', ['a..b'], RANGE, 'key'],
  ],
  attrSet: [
    ['no key', [undefined, 1], TYPE, 'key'],
    ['the format’s own', ['ovni.tid', 1], RANGE, 'key'],
    ['the format’s own', ['version', 1], RANGE, 'key'],
    ['prototype', ['a.__proto__.b', 1], RANGE, 'key'],
    ['NUL in the key', ['a\0b', 1], RANGE, 'key'],
    ['NUL in a key below', ['app.x', { 'a\0b': 1 }], RANGE, 'key'],
    ['too deep a key', [Array(200).fill('a').join('.'), 1], RANGE, 'key'],
    ['a path through a value', ['app.name.more', 1], RANGE, 'key'],
    ['undefined', ['app.x', undefined], TYPE, 'value'],
    ['bigint', ['app.x', 1n], TYPE, 'value'],
    ['function', ['app.x', () => 1], TYPE, 'value'],
    ['symbol', ['app.x', Symbol('x')], TYPE, 'value'],
    ['NaN', ['app.x', NaN], RANGE, 'value'],
    ['infinity below', ['app.x', { list: [1, Infinity] }], RANGE, 'value'],
    ['date', ['app.x', new Date()], TYPE, 'value'],
    ['map', ['app.x', new Map()], TYPE, 'value'],
    ['undefined below', ['app.x', { a: undefined }], TYPE, 'value'],
    ['circle', ['app.x', circle], RANGE, 'value'],
  ],
  markType: [
    ['type of a wrong type', ['1', 'x'], TYPE, 'type'],
    ['negative', [-1, 'x'], RANGE, 'type'],
    ['beyond 99', [100, 'x'], RANGE, 'type'],
    ['no title', [5], TYPE, 'title'],
    ['empty title', [5, ''], RANGE, 'title'],
    ['long title', [5, long], RANGE, 'title'],
    ['long in bytes', [5, 'ä'.repeat(256)], RANGE, 'title'],
    ['defined otherwise', [1, 'other', { stack: true }], RANGE, 'type'],
    ['defined as no stack', [1, 'stack'], RANGE, 'type'],
    ['options null', [5, 'x', null], TYPE, 'options'],
    ['misspelt option', [5, 'x', { stak: true }], RANGE, 'option'],
    ['stack of a wrong type', [5, 'x', { stack: 1 }], TYPE, 'stack'],
  ],
  markLabel: [
    ['undefined type', [50, 1, 'x'], RANGE, 'type'],
    ['type of a wrong type', ['1', 1, 'x'], TYPE, 'type'],
    ['value of a wrong type', [1, '1', 'x'], TYPE, 'value'],
    ['zero', [1, 0, 'x'], RANGE, 'value'],
    ['negative', [1, -1n, 'x'], RANGE, 'value'],
    ['beyond i64', [1, 2n ** 63n, 'x'], RANGE, 'value'],
    ['no label', [1, 1], TYPE, 'label'],
    ['empty', [1, 1, ''], RANGE, 'label'],
    ['long', [1, 1, long], RANGE, 'label'],
    ['labelled otherwise', [1, 9, 'x'], RANGE, 'value'],
    ['same for the emulator', [1, 9n + 2n ** 32n, 'x'], RANGE, 'value'],
  ],
  markPush: [
    ['no type', [], TYPE, 'type'],
    ['type of a wrong type', ['1', 1], TYPE, 'type'],
    ['a property of arrays', ['length', 1], TYPE, 'type'],
    ['undefined type', [50, 1], RANGE, 'type'],
    ['out of range', [100, 1], RANGE, 'type'],
    ['not a stack', [2, 1], ORDER, 'markPush'],
    ['zero', [1, 0], RANGE, 'value'],
    ['fraction', [1, 0.5], RANGE, 'value'],
    ['unsafe', [1, 2 ** 53], RANGE, 'value'],
    ['string', [1, '1'], TYPE, 'value'],
  ],
  markPop: [
    ['nothing pushed', [3, 1], ORDER, 'markPop'],
    ['another on top', [1, 5], RANGE, 'value'],
    ['not a stack', [2, 1], ORDER, 'markPop'],
    ['zero', [1, 0n], RANGE, 'value'],
    ['undefined type', [50, 1], RANGE, 'type'],
  ],
  markSet: [
    ['a stack', [1, 1], ORDER, 'markSet'],
    ['zero', [2, 0], RANGE, 'value'],
    ['beyond i64', [2, -(2n ** 63n) - 1n], RANGE, 'value'],
    ['undefined type', [50, 1], RANGE, 'type'],
  ],
};

/** Wrong calls before anything has begun. */
const beforeAnything: Partial<Record<keyof typeof ovni, Row[]>> = {
  procInit: [
    ['no app', [], TYPE, 'app'],
    ['app as a string', ['1', 'n'], TYPE, 'app'],
    ['app 0', [0, 'n'], RANGE, 'app'],
    ['app beyond i32', [2 ** 31, 'n'], RANGE, 'app'],
    ['no loom', [1], TYPE, 'loom'],
    ['empty loom', [1, ''], RANGE, 'loom'],
    ['slash', [1, 'a/b'], RANGE, 'loom'],
    ['NUL', [1, 'a\0b'], RANGE, 'loom'],
    ['not a string of UTF-8', [1, 'a\ud800'], RANGE, 'loom'],
    ['long', [1, 'x'.repeat(201)], RANGE, 'loom'],
    ['pid 0', [1, 'n', 0], RANGE, 'pid'],
    ['pid of a wrong type', [1, 'n', '1'], TYPE, 'pid'],
    ['options null', [1, 'n', 1, null], TYPE, 'options'],
    ['an option misspelt', [1, 'n', 1, { tracedir: 'x' }], RANGE, 'option'],
    ['version 2', [1, 'n', 1, { version: 2 }], RANGE, 'version'],
    ['empty directory', [1, 'n', 1, { traceDir: '' }], TYPE, 'traceDir'],
    ['ring too small', [1, 'n', 1, { ringBytes: 1024 }], RANGE, 'ringBytes'],
    ['ring too large', [1, 'n', 1, { ringBytes: 2 ** 30 }], RANGE, 'ringBytes'],
    ['ring of a wrong type', [1, 'n', 1, { ringBytes: '1' }], TYPE, 'ringBytes'],
    ['ringDir of a wrong type', [1, 'n', 1, { ringDir: 5 }], TYPE, 'ringDir'],
    ['unknown policy', [1, 'n', 1, { onFull: 'wait' }], RANGE, 'onFull'],
    ['policy of a wrong type', [1, 'n', 1, { onFull: 1 }], TYPE, 'onFull'],
    ['unknown clock', [1, 'n', 1, { clock: 'tsc' }], RANGE, 'clock'],
    ['wait too long', [1, 'n', 1, { blockLimitMs: 60_001 }], RANGE, 'blockLimitMs'],
  ],
  procSetRank: [['too early', [0, 1], ORDER, 'procSetRank']],
  procFini: [['too early', [], ORDER, 'procFini']],
  procStats: [['too early', [], ORDER, 'procStats']],
  addCpu: [['too early', [0, 0], ORDER, 'addCpu']],
  threadInit: [['too early', [], ORDER, 'threadInit']],
  threadRequire: [['too early', ['nosv', '1.0.0'], ORDER, 'threadRequire']],
  threadFree: [['too early', [], ORDER, 'threadFree']],
  emit: [
    ['too early', ['OB.'], ORDER, 'emit'],
    ['a state too early', ['OHx'], ORDER, 'OHx'],
  ],
  emitJumbo: [
    ['too early', ['VYc', new Uint8Array(0)], ORDER, 'emitJumbo'],
    ['large, too early', ['VYc', new Uint8Array(4 << 20)], ORDER, 'emitJumbo'],
  ],
  flush: [['too early', [], ORDER, 'flush']],
  attrHas: [['too early', ['a'], ORDER, 'attrHas']],
  attrSet: [['too early', ['a', 1], ORDER, 'attrSet']],
  attrGet: [['too early', ['a'], ORDER, 'attrGet']],
  attrFlush: [['too early', [], ORDER, 'attrFlush']],
  markType: [['too early', [1, 'x'], ORDER, 'markType']],
  markLabel: [['too early', [1, 1, 'x'], ORDER, 'markLabel']],
  markPush: [['too early', [1, 1], ORDER, 'markPush']],
  markPop: [['too early', [1, 1], ORDER, 'markPop']],
  markSet: [['too early', [1, 1], ORDER, 'markSet']],
};

/** Calls that are wrong once the thread has ended. */
const afterTheEnd: Partial<Record<keyof typeof ovni, Row[]>> = {
  threadFree: [['twice', [], ORDER, 'threadFree']],
  emit: [['too late', ['OB.'], ORDER, 'emit']],
  emitJumbo: [['too late', ['VYc', new Uint8Array(9)], ORDER, 'emitJumbo']],
  markPush: [['too late', [1, 1], ORDER, 'markPush']],
  markSet: [['too late', [2, 1], ORDER, 'markSet']],
  flush: [['too late', [], ORDER, 'flush']],
  attrSet: [['too late', ['a', 1], ORDER, 'attrSet']],
  markType: [['too late', [8, 'x'], ORDER, 'markType']],
};

/** Exports that cannot be called wrongly, or that their own test files cover. */
const elsewhere = new Set<string>([
  'clockNow', // takes nothing, needs nothing
  'threadIsReady', // likewise
  'events', // a constant
  'models', // a constant
  'TracewrightError',
  'TraceFormatError',
  // The read side: reader.test.ts, check.test.ts, trace-directory.test.ts and others.
  'checkTrace',
  'decodeArguments',
  'readStream',
  'readTraceDirectory',
  'convertToVersion3',
  'recoverTrace',
]);

function refuses(name: string, values: unknown[], code: string, field: string): void {
  const call = (ovni as unknown as Record<string, Loose>)[name]!;
  let thrown: unknown;
  try {
    call(...values);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(TracewrightError);
  const error = thrown as TracewrightError;
  expect({ code: error.code, field: error.field }).toEqual({ code, field });
  expect(error.message.length).toBeGreaterThan(10);
  if (code === ORDER) return;
  expect(error.limit).toBeTypeOf('string');
  expect('value' in error).toBe(true);
}

const rowsOf = (table: Partial<Record<string, Row[]>>): [string, ...Row][] =>
  Object.entries(table).flatMap(([name, rows]) =>
    (rows ?? []).map((row): [string, ...Row] => [name, ...row]),
  );

it('every exported function has a row', () => {
  const rows = new Set(
    [whileTracing, beforeAnything, afterTheEnd].flatMap((table) => Object.keys(table)),
  );
  const missing = Object.keys(ovni).filter((name) => !rows.has(name) && !elsewhere.has(name));
  expect(missing).toEqual([]);
});

describe('before anything has begun', () => {
  it.each(rowsOf(beforeAnything))('%s: %s', (name, _what, values, code, field) => {
    refuses(name, values, code, field);
  });

  it('an emitter may be made, not called', () => {
    const execute = ovni.event('OHx');
    const typeCreate = ovni.event('VYc');
    expect(() => {
      execute(-1, -1, 0);
    }).toThrow(expect.objectContaining({ code: ORDER }));
    expect(() => {
      typeCreate(1, 'x');
    }).toThrow(expect.objectContaining({ code: ORDER }));
  });
});

describe.each([1, 3] as const)('while a thread traces, version %i', (version) => {
  let traceDir: string;
  const emitted: string[] = [];

  beforeAll(() => {
    traceDir = ovni.procInit(1, 'node.1', 1, {
      traceDir: join(temporaryDirectory(), 'ovni'),
      version,
    }).traceDir;
    ovni.threadInit(1);
    ovni.addCpu(0, 0);
    ovni.attrSet('app.name', 'x');
    ovni.threadRequire('nosv', '2.4.0');
    ovni.markType(1, 'stack', { stack: true });
    ovni.markType(2, 'value');
    ovni.markType(3, 'empty stack', { stack: true });
    ovni.markLabel(1, 9, 'nine');
    ovni.event('OHx')(-1, 1, 0);
    ovni.markPush(1, 7);
    emitted.push('OHx', 'OM[');
  });

  it.each(rowsOf(whileTracing))('%s: %s', (name, _what, values, code, field) => {
    refuses(name, values, code, field);
  });

  it('emitters: each argument', () => {
    const emit = ovni.event('OAr(i32 cpu, i32 tid)') as unknown as Loose;
    for (const wrong of [undefined, null, '1', 1n, {}, 1.5, NaN, 2 ** 31]) {
      for (const [values, field] of [
        [[wrong, 1], 'cpu'],
        [[1, wrong], 'tid'],
      ] as const) {
        expect(() => emit(...values)).toThrow(
          expect.objectContaining({ name: 'TracewrightError', field }),
        );
      }
    }
    const label = ovni.event('VYc') as unknown as Loose;
    expect(() => label(1, 5)).toThrow(expect.objectContaining({ code: TYPE, field: 'label' }));
    expect(() => label(1, 'a\0b')).toThrow(
      expect.objectContaining({ code: RANGE, field: 'label' }),
    );
    expect(() => label(-1, 'a')).toThrow(expect.objectContaining({ code: RANGE, field: 'typeid' }));
  });

  it('a label of a task type that the emulator would not take', () => {
    const define = ovni.event('VYc');
    for (const label of ['a'.repeat(512), 'ä'.repeat(256)]) {
      expect(() => {
        define(1, label);
      }).toThrow(expect.objectContaining({ code: RANGE, field: 'label' }));
    }
  });

  it('a stack that is full', () => {
    for (let i = 0; i < 512; i++) ovni.markPush(3, i + 1);
    expect(() => {
      ovni.markPush(3, 1);
    }).toThrow(expect.objectContaining({ code: ORDER, field: 'markPush' }));
    for (let i = 512; i > 0; i--) ovni.markPop(3, i);
    for (let i = 0; i < 512; i++) emitted.push('OM[');
    for (let i = 0; i < 512; i++) emitted.push('OM]');
  });

  describe('after its end', () => {
    beforeAll(() => {
      ovni.markPop(1, 7);
      ovni.emit('OHe');
      emitted.push('OM]', 'OHe');
      ovni.threadFree();
    });

    it.each(rowsOf(afterTheEnd))('%s: %s', (name, _what, values, code, field) => {
      refuses(name, values, code, field);
    });

    it('and that of the process', () => {
      ovni.procFini();
      refuses('procFini', [], ORDER, 'procFini');
      refuses('threadInit', [], ORDER, 'threadInit');
      refuses('procSetRank', [0, 1], ORDER, 'procSetRank');
      refuses('addCpu', [0, 0], ORDER, 'addCpu');
    });
  });

  afterAll(() => {
    // Nothing of all this is in the trace.
    expect(findingsOf(traceDir)).toEqual([]);
    expect(eventsOf(streamsOf(traceDir)[0]!).map(({ mcv }) => mcv)).toEqual(emitted);
    emitted.length = 0;
  });
});
