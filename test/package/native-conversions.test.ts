import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const addon = fileURLToPath(new URL('../../native/addon', import.meta.url));

// A thread that is being terminated cannot run JavaScript: the conversion gives nothing, and what reads it ends the process.
it('no native call converts an argument by JavaScript', () => {
  const files = readdirSync(addon);
  expect(files).toContain('file_calls.cc');
  const conversions = files.flatMap((name) => {
    const text = readFileSync(join(addon, name), 'utf8');
    return [...text.matchAll(/\.To(?:Number|String|Boolean|Object)\(\)/g)].map(
      ([call]) => `${name}: ${call}`,
    );
  });
  expect(conversions).toEqual([]);
});
