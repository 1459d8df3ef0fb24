import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CORE_INTERFACE } from '../../src/core/core-interface.js';

const native = new URL('../../native/', import.meta.url);

/** The code of a file, without comments and space. */
function codeOf(path: string): string {
  return readFileSync(new URL(path, native), 'utf8').replaceAll(/\/\/.*|\s+/g, '');
}

/** What both sides know without a call: layouts, and the names of the functions. */
function knownToBoth(): string {
  const layouts = ['ring/control_page.h', 'ring/waiting_index.h'].map(codeOf);
  const names = readdirSync(new URL('addon/', native))
    .filter((name) => name.endsWith('.cc'))
    .flatMap((name) => codeOf(`addon/${name}`).match(/\bput\("\w+"/g) ?? []);
  return [...layouts, ...names.sort()].join('\n');
}

it('a binary with other layouts or functions than the code has another number', () => {
  const [, found] = /kInterface=(\d+);/.exec(codeOf('addon/loaded_cores.cc'))!;
  expect(Number(found)).toBe(CORE_INTERFACE);
  // If only the second has changed: add 1 to both numbers, and put the new values here.
  expect([
    CORE_INTERFACE,
    createHash('sha256').update(knownToBoth()).digest('hex').slice(0, 16),
  ]).toEqual([31, '47158c1dcacf649f']);
});
