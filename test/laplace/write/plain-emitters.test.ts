import { mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readReferences } from '../../../src/laplace/read/reference-reader.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const place = temporaryDirectory();

describe('where functions may not be made from text', () => {
  it('the same is recorded', async () => {
    const directories = [fileIn(place), fileIn(place)];
    const flags = [[], ['--disallow-code-generation-from-strings']];
    for (const [i, execArgv] of flags.entries()) {
      mkdirSync(directories[i]!);
      const { code, stderr } = await runFixture('laplace/calls.mjs', {
        input: { directory: directories[i] },
        execArgv,
      });
      expect([code, stderr]).toEqual([0, '']);
    }
    for (const name of ['little', 'big', 'text', 'kernel']) {
      const [compiled, plain] = directories.map((directory) =>
        readFileSync(`${directory}/${name}`),
      );
      expect(compiled!.equals(plain!)).toBe(true);
    }
    for (const directory of directories) {
      for (const [name, options] of [
        ['little', { endian: 'little' }],
        ['big', { endian: 'big' }],
        ['text', { form: 'text' }],
      ] as const) {
        const references = [...readReferences(`${directory}/${name}.clock`, options)];
        expect(references.map(({ type, address }) => [type, address])).toEqual(
          Array.from({ length: 600 }, (_, n) => [n % 2 === 0 ? 'i' : 'x', n >> 1]),
        );
        const now = process.hrtime.bigint();
        references.reduce((last, { timestamp }) => {
          expect(timestamp).toBeGreaterThanOrEqual(last);
          return timestamp;
        }, now - 600_000_000_000n);
        expect(references.at(-1)!.timestamp).toBeLessThanOrEqual(now);
      }
    }
  });
});
