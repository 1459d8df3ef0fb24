// Which lines of memory a request needs: what a first and a second cache of a core miss, by callgrind's simulation. A
// busy machine does not change them. Needs Valgrind.

import { root } from '../scripts/package-layout.mjs';
import { main } from './benchmark.mjs';
import { instructionsOf, NOT_COUNTED } from './callgrind.mjs';
import { PATHS, profileOnce } from './instructions.mjs';

/** Bytes, ways and bytes of a line, as many servers have them. Callgrind calls the second one the last. */
const CACHES = ['--cache-sim=yes', '--I1=32768,8,64', '--D1=32768,8,64', '--LL=524288,8,64'];
const COUNTED = {
  instructions: ['Ir'],
  'code not in 32 KB': ['I1mr'],
  'data not in 32 KB': ['D1mr', 'D1mw'],
  'neither in 512 KB': ['ILmr', 'DLmr', 'DLmw'],
};

/** What runs, by its path of bench/instructions.mjs. */
const VARIANTS = {
  plain: 'request without the hook',
  'a constant in AsyncLocalStorage': 'request with a constant in AsyncLocalStorage',
  'the hook, nothing sampled': 'request that is not sampled',
  'the hook': 'request with context',
};

/**
 * @param {string} path
 * @param {boolean} quick
 */
async function count(path, quick) {
  const how = quick ? { ...PATHS[path], warmUp: 500, counted: 200 } : PATHS[path];
  const profile = await profileOnce(path, how, root, { flags: CACHES });
  return Object.values(COUNTED).map((events) => {
    const { all, collector } = instructionsOf(profile, '', events);
    return (all - collector) / how.counted;
  });
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  if (NOT_COUNTED !== undefined) return { tables: [], notes: [`Skipped: ${NOT_COUNTED}.`] };
  const found = [];
  for (const path of Object.values(VARIANTS)) found.push(await count(path, quick));
  const [plain] = found;
  return {
    tables: [
      {
        title: 'Instructions of a request, and lines of memory that they find in no cache',
        columns: ['', ...Object.keys(COUNTED).flatMap((name) => [name, 'more than plain'])],
        rows: Object.keys(VARIANTS).map((name, i) => [
          name,
          ...found[i].flatMap((figure, k) => [Math.round(figure), Math.round(figure - plain[k])]),
        ]),
      },
    ],
    notes: [
      'Of the main thread, by callgrind, without the garbage collector. One process each, one request after the other.',
    ],
  };
}

await main(import.meta.url, { title: 'The cache misses of a request', measure });
