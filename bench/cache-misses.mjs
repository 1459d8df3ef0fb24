// Which lines of memory a request needs: what a first and a second cache of a core miss, by callgrind's simulation. A
// busy machine does not change them. Needs Valgrind; PostgreSQL, MariaDB and Redis at their standard addresses.

import { main } from './benchmark.mjs';
import { instructionsOf } from './callgrind.mjs';
import { onPath } from './http-turns.mjs';
import { EXPRESS, PATHS, profileOnce, SERVICE } from './instructions.mjs';
import { installPackages } from './libraries-packages.mjs';

/** Bytes, ways and bytes of a line, as many servers have them. Callgrind calls the second one the last. */
const CACHES = ['--cache-sim=yes', '--I1=32768,8,64', '--D1=32768,8,64', '--LL=524288,8,64'];
const INSTRUCTIONS = ['Ir'];
const FIRST = ['I1mr', 'D1mr', 'D1mw'];
const SECOND = ['ILmr', 'DLmr', 'DLmw'];

/** Of each service: what runs, the plain one first. */
const SERVICES = {
  'node:http': {
    plain: 'request without the hook',
    'a constant in AsyncLocalStorage': 'request with a constant in AsyncLocalStorage',
    'the hook, nothing sampled': 'request that is not sampled',
    'the hook': 'request with context',
  },
  ...Object.fromEntries(
    [SERVICE, EXPRESS].map((service) => [
      service,
      {
        plain: `${service}, without the hook`,
        'a constant in AsyncLocalStorage': `${service}, with a constant in AsyncLocalStorage`,
        'the hook, nothing sampled': `${service}, not sampled`,
        'the hook': service,
      },
    ]),
  ),
};
/** Processes at once: it makes no difference to what is counted. */
const AT_ONCE = 2;

/** @param {string} path @param {boolean} quick @param {string} place */
async function count(path, quick, place) {
  const how = quick ? { ...PATHS[path], warmUp: 500, counted: 200 } : PATHS[path];
  const profile = await profileOnce(path, how, place, { flags: CACHES });
  return [INSTRUCTIONS, FIRST, SECOND].map((events) => {
    const { all, collector } = instructionsOf(profile, '', events);
    return (all - collector) / how.counted;
  });
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  if (!onPath('valgrind') || !onPath('callgrind_control')) {
    return { tables: [], notes: ['Skipped: valgrind and callgrind_control are not on the PATH.'] };
  }
  const place = installPackages();
  const left = Object.entries(SERVICES).flatMap(([service, variants]) =>
    Object.entries(variants).map(([variant, path]) => ({ service, variant, path, found: [] })),
  );
  const all = [...left];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      next.found = await count(next.path, quick, place);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const rows = all.map(({ service, variant, found }) => {
    const plain = all.find((each) => each.service === service);
    return [service, variant, ...found.flatMap((figure, i) => [figure, figure - plain.found[i]])];
  });
  return {
    tables: [
      {
        title: 'Instructions and cache misses of the main thread a request',
        columns: [
          'service',
          'variant',
          'instructions',
          'more than plain',
          'misses of 32 KB',
          'more than plain',
          'misses of 512 KB',
          'more than plain',
        ],
        rows,
      },
    ],
    notes: [
      'Counted by callgrind, without the garbage collector; one process each, one request after the other.',
    ],
  };
}

await main(import.meta.url, { title: 'The cache misses of a request', measure });
