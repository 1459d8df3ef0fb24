import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { caught, open, recorded } from './opened-rank.js';

describe('functions, annotations and pairs', () => {
  it('have addresses, keys and names', () => {
    const rank = open();
    rank.functionEnter('main');
    rank.functionEnter('größe', 3);
    rank.annotate('first');
    rank.annotate('own', 4095);
    rank.annotate('another text', 4095);
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
