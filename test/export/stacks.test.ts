import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { pprofBytes } from '../../src/export/stacks/pprof.js';
import { sampledStacks } from '../../src/export/stacks/sampled-stacks.js';
import type { ThreadStacks } from '../../src/export/stacks/sampled-stacks.js';
import { speedscopeText } from '../../src/export/stacks/speedscope.js';
import { openLookIndex } from '../../src/look/index/open-look-index.js';
import { TracedProcess } from '../node/traced-process.js';
import { decodeFields, integer, messages } from './protobuf-fields.js';
import type { Fields } from './protobuf-fields.js';

interface Speedscope {
  shared: { frames: { name: string; file?: string; line?: number }[] };
  profiles: {
    type: string;
    unit: string;
    endValue: number;
    samples: number[][];
    weights: number[];
  }[];
}

async function stacksOf(env: Record<string, string>): Promise<[ThreadStacks[], bigint]> {
  const service = new TracedProcess('blocking-shapes.mjs', {
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
    args: ['main', 'callingLoop', 'callingLoop'],
  });
  await service.ended();
  const index = await openLookIndex([service.directory]);
  try {
    return [await sampledStacks(index), index.epoch];
  } finally {
    index.close();
  }
}

const kinds: [string, Record<string, string>][] = [
  ['samples', { TRACEWRIGHT_PROFILE: 'cpu:200' }],
  ['stalls', { TRACEWRIGHT_STALL_MS: '50' }],
];

it.each(kinds)('stacks of %s are flame charts and profiles of other tools', async (_, env) => {
  const [threads, epoch] = await stacksOf(env);
  const { shared, profiles } = JSON.parse(speedscopeText(threads)) as Speedscope;
  const [profile] = profiles;
  expect(profile).toMatchObject({ type: 'sampled', unit: 'nanoseconds' });
  const { samples, weights, endValue } = profile!;
  expect(weights).toHaveLength(samples.length);
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBe(endValue);
  const loops = samples.filter((stack) =>
    stack.some((frame) => shared.frames[frame]!.name === 'callingLoop'),
  );
  expect(loops.length).toBeGreaterThan(0);
  const own = shared.frames.find(({ name }) => name === 'callingLoop')!;
  expect(own.file).toMatch(/blocking-shapes\.mjs$/);
  // The caller comes first.
  const names = loops[0]!.map((frame) => shared.frames[frame]!.name);
  expect(names.indexOf('run')).toBeLessThan(names.indexOf('callingLoop'));

  const fields = decodeFields(gunzipSync(pprofBytes(threads, epoch)));
  const strings = fields.get(6)!.map((bytes) => Buffer.from(bytes as Uint8Array).toString());
  expect(strings[0]).toBe('');
  const stringOf = (from: Fields, field: number) => strings[Number(integer(from, field) ?? 0n)];
  expect(messages(fields, 1).map((type) => [stringOf(type, 1), stringOf(type, 2)])).toEqual([
    ['samples', 'count'],
    ['wall', 'nanoseconds'],
  ]);
  const functions = messages(fields, 5).map((each) => [integer(each, 1), stringOf(each, 2)]);
  const ofFunction = new Map(functions as [bigint, string][]);
  const locations = new Map(
    messages(fields, 4).map((each) => [
      integer(each, 1),
      ofFunction.get(integer(messages(each, 4)[0]!, 1)!),
    ]),
  );
  const found = messages(fields, 2).map((sample) => ({
    // The innermost comes first.
    stack: sample.get(1)!.map((id) => locations.get(id as bigint)!),
    wall: Number(sample.get(2)![1]),
  }));
  const expected = profiles.flatMap(({ samples: all, weights: each }) =>
    all.map((stack, at) => ({
      stack: stack.map((frame) => shared.frames[frame]!.name).reverse(),
      wall: Math.round(each[at]!),
    })),
  );
  expect(found).toEqual(expected);
});
