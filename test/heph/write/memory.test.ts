import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { resultOfFixture } from '../../fixtures/run-fixture.js';
import { temporaryDirectory } from '../temporary-file.js';

const directory = temporaryDirectory();
const MEBIBYTE = 2 ** 20;

it('the heap does not grow with the number of descriptions and names', async () => {
  const path = join(directory, 'many.heph');
  const events = 400_000;
  const { grown, recorded } = await resultOfFixture<{ grown: number; recorded: number }>(
    'heph/many-descriptions.mjs',
    { input: { path, events }, execArgv: ['--expose-gc'] },
  );
  rmSync(path);
  expect(recorded).toBe(2.5 * events);
  expect(grown).toBeLessThan(2 * MEBIBYTE);
});
