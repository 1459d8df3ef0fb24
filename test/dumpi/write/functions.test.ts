import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkTrace } from '../../../src/dumpi/read/check.js';
import { readRows } from '../../../src/dumpi/read/rows.js';
import { callObject, dump } from '../../../src/dumpi/read/dump.js';
import { dumpi2ascii } from '../../../src/dumpi/read/dumpi2ascii.js';
import { jsonInteger } from '../../../src/core/json.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { rowEvents } from '../../rows/row-events.js';
import { caught, open, recorded } from './opened-rank.js';

describe('functions, annotations and pairs', () => {
  it('have addresses, keys and names', () => {
    const rank = open();
    rank.functionEnter('main');
    rank.functionEnter('größe', 3);
    rank.annotate('first');
    rank.annotate('own', 4095);
    rank.annotate('own', 4095);
    rank.functionExit('größe', 3);
    rank.functionExit('main');
    rank.keyval('key', 'value');
    rank.keyval('key', 'wert');
    const calls = recorded(rank);
    const { functionNames, keyvals, footer } = readSections(rank.path);
    const names = new Map(functionNames.map(({ address, name }) => [address, name]));
    expect(
      calls.map(({ name, fields }) => [name, names.get((fields as { fn: bigint }).fn)]),
    ).toEqual([
      ['Function_enter', 'main'],
      ['Function_enter', 'größe'],
      ['Function_enter', 'ANNOTATION: first'],
      ['Function_exit', 'ANNOTATION: first'],
      ['Function_enter', 'ANNOTATION: own'],
      ['Function_exit', 'ANNOTATION: own'],
      ['Function_enter', 'ANNOTATION: own'],
      ['Function_exit', 'ANNOTATION: own'],
      ['Function_exit', 'größe'],
      ['Function_exit', 'main'],
    ]);
    expect(functionNames.map(({ address }) => address)).toEqual([
      2n ** 32n,
      2n ** 32n + 1n,
      4096n,
      4095n,
    ]);
    expect(keyvals).toEqual([
      ['key', 'value'],
      ['key', 'wert'],
    ]);
    expect(footer!.calls.every((count) => count === 0)).toBe(true);
  });

  it('have the addresses that the program gives, with a name or without', () => {
    const rank = open();
    const main = { address: 0x5555_5555_1234, name: 'main' };
    const last = { address: 2n ** 64n - 1n };
    rank.functionEnter(main);
    rank.functionEnter(last);
    rank.functionEnter('named');
    rank.annotate('a text');
    rank.functionExit('named');
    rank.functionExit(last);
    rank.functionExit({ address: 0x5555_5555_1234n });
    const calls = recorded(rank);
    expect(calls.map(({ fields }) => (fields as { fn: bigint }).fn)).toEqual([
      0x5555_5555_1234n,
      2n ** 64n - 1n,
      2n ** 32n,
      4096n,
      4096n,
      2n ** 32n,
      2n ** 64n - 1n,
      0x5555_5555_1234n,
    ]);
    expect(readSections(rank.path).functionNames).toEqual([
      { address: 0x5555_5555_1234n, name: 'main' },
      { address: 2n ** 32n, name: 'named' },
      { address: 4096n, name: 'ANNOTATION: a text' },
      { address: 2n ** 64n - 1n, name: '<none>' },
    ]);
    expect([...checkTrace(rank.path)].map(({ rule }) => rule)).toEqual([
      'reader-copy',
      'no-init',
      'no-finalize',
    ]);
  });

  it('get the name that a later call gives, and one name only', () => {
    const rank = open();
    const refused = (name: string, run: () => void): void => {
      expect(caught(run)).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'name', value: name });
    };
    const late = 2n ** 63n + 1n;
    rank.functionEnter({ address: late });
    rank.functionExit({ address: late, name: 'late' });
    rank.functionEnter({ address: late });
    rank.functionExit({ address: late, name: 'late' });
    refused('other', () => {
      rank.functionEnter({ address: late, name: 'other' });
    });
    rank.functionEnter({ address: 5000, name: 'first' });
    refused('second', () => {
      rank.functionExit({ address: 5000n, name: 'second' });
    });
    refused('<none>', () => {
      rank.functionExit({ address: 5000n, name: '<none>' });
    });
    rank.functionExit({ address: 5000 });
    rank.annotate('text', 7);
    expect(
      caught(() => {
        rank.annotate('another', 7);
      }),
    ).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'text', value: 'another' });
    const calls = recorded(rank);
    expect(calls).toHaveLength(8);
    expect(readSections(rank.path).functionNames).toEqual([
      { address: late, name: 'late' },
      { address: 5000n, name: 'first' },
      { address: 7n, name: 'ANNOTATION: text' },
    ]);
  });

  it('read as unsigned wherever an address is shown, above 2^63 too', () => {
    const rank = open();
    const high = 0xffff_8000_0000_1234n;
    rank.functionEnter({ address: high, name: 'high' });
    rank.functionExit({ address: high });
    const [enter] = recorded(rank);
    expect(enter).toMatchObject({ fields: { fn: high } });
    expect([...dump(rank.path, false)].join('\n')).toContain(`fn=${high}`);
    expect(callObject(enter!)).toMatchObject({ fields: { fn: jsonInteger(high) } });
    const names = [...rowEvents(readRows, rank.path)].map(({ name, ph }) => [name, ph]);
    expect(names).toContainEqual(['high', 'X']);
    // The format's own reader prints calls with a sign, and the table of names without.
    const text = [...dumpi2ascii(rank.path)].join('\n');
    expect(text).toContain(`int fn=${high - 2n ** 64n} ("high")`);
    expect(text).toContain(`Function address ${high} has label high`);
  });

  it('never share an address', () => {
    const rank = open();
    rank.functionEnter({ address: 2n ** 32n, name: 'first' });
    rank.functionEnter({ address: 4096, name: 'second' });
    rank.functionEnter('third');
    rank.annotate('fourth');
    for (const address of [
      0n,
      4095n,
      4097n,
      2 ** 32 + 1,
      2n ** 32n - 1n,
      2n ** 64n,
      -1,
      0.5,
      NaN,
    ]) {
      expect(
        caught(() => {
          rank.functionEnter({ address });
        }),
      ).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'address' });
    }
    for (const [fn, field] of [
      [{}, 'address'],
      [{ address: '5' }, 'address'],
      [null, 'name'],
      [{ address: 5000, name: 7 }, 'name'],
    ] as const) {
      expect(
        caught(() => {
          rank.functionExit(fn as never);
        }),
      ).toMatchObject({ code: 'ERR_ARGUMENT_TYPE', field });
    }
    rank.close();
    const names = readSections(rank.path).functionNames;
    expect(names.map(({ address, name }) => `${address} ${name}`)).toEqual([
      '4294967296 first',
      '4096 second',
      '4294967297 third',
      '4097 ANNOTATION: fourth',
    ]);
  });

  it('are refused by a rank that is closed, which leaves no file for them', () => {
    const rank = open();
    rank.close();
    const files = readdirSync(dirname(rank.path));
    for (const late of [
      () => {
        rank.functionEnter('late');
      },
      () => {
        rank.annotate('late', 7);
      },
    ]) {
      expect(caught(late)).toMatchObject({ code: 'ERR_CLOSED' });
    }
    expect(readdirSync(dirname(rank.path))).toEqual(files);
  });

  it('are as many and as long as one likes', () => {
    const rank = open();
    const long = 'x'.repeat(65_535 - 'ANNOTATION: '.length);
    for (let i = 0; i < 5000; i++) rank.annotate(`annotation ${i}`);
    rank.annotate(long);
    expect(
      caught(() => {
        rank.annotate(`${long}x`);
      }),
    ).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'text' });
    rank.close();
    const { functionNames } = readSections(rank.path);
    expect(functionNames).toHaveLength(5001);
    expect(functionNames[4999]!.name).toBe('ANNOTATION: annotation 4999');
    expect(functionNames[5000]!.name).toHaveLength(65_535);
  });

  it('are left out where the configuration says so', () => {
    const rank = open({ config: { functionEnter: false, functionExit: true } });
    rank.functionEnter('f');
    rank.functionExit('f');
    expect(recorded(rank).map(({ name }) => name)).toEqual(['Function_exit']);
  });
});
