import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { injectionOf } from '../../src/libraries/injected/injected-channel.js';
import { INJECTED_NAMES } from '../../src/libraries/table.js';

const MOST_MS = 100;
const BYTES = 60_000;

/** A file of a library is not known before it is read, and may have any text. */
function longFile(): string {
  const directory = join(import.meta.dirname, '../../src/libraries/engine');
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
  const text = files.join('\n').slice(0, BYTES);
  expect(text).toHaveLength(BYTES);
  return text;
}

it.each(INJECTED_NAMES)('no pattern of %s keeps the program from starting', (name) => {
  const text = longFile();
  for (const { only, unless, texts = [] } of injectionOf(name).files) {
    for (const pattern of [only, unless, ...texts.map(({ from }) => from)]) {
      if (!(pattern instanceof RegExp)) continue;
      const begin = performance.now();
      text.search(pattern);
      expect(performance.now() - begin, String(pattern)).toBeLessThan(MOST_MS);
    }
  }
});
