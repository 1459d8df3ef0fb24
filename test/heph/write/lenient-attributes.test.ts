import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackets } from '../../../src/heph/read/reader.js';
import { openTrace } from '../../../src/heph/write/trace.js';
import type { Attributes } from '../../../src/heph/write/value.js';
import { temporaryDirectory } from '../temporary-file.js';

const directory = temporaryDirectory();
let traces = 0;

/** The attributes of an event as they are read back, and what was counted. */
async function recorded(attributes: Record<string, unknown>) {
  const path = join(directory, `${++traces}.heph`);
  const trace = openTrace(path, { attributes: 'lenient' });
  const stream = trace.stream();
  stream.finishTrace(stream.startTrace(), 'event', attributes as Attributes);
  const { attributes: counts } = trace.stats();
  await trace.close();
  const events = [...readPackets(path)].filter(({ kind }) => kind === 'event');
  expect(events).toHaveLength(1);
  const [event] = events;
  const read = event!.kind === 'event' ? event!.attributes : [];
  return { read: Object.fromEntries(read.map(({ name, value }) => [name, value])), counts };
}

describe("attributes: 'lenient'", () => {
  it('records dates, objects and wide integers as text, and counts them', async () => {
    const { read, counts } = await recorded({
      at: new Date(0),
      user: { id: 7, big: 5n },
      mixed: [1, 'two'],
      wide: 2n ** 70n,
      status: 200,
    });
    expect(read).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      user: '{"id":7,"big":"5"}',
      mixed: '[1,"two"]',
      wide: '1180591620717411303424',
      status: 200n,
    });
    expect(counts).toEqual({ texts: 4, omitted: 0 });
  });

  it('leaves out what has no text, and what fails', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const { read, counts } = await recorded({
      nothing: null,
      call: () => 1,
      symbol: Symbol('x'),
      invalid: new Date(NaN),
      cycle,
      throws: {
        toJSON() {
          throw new Error('no');
        },
      },
      undefined,
      kept: 'text',
    });
    expect(read).toEqual({ kept: 'text' });
    expect(counts).toEqual({ texts: 0, omitted: 6 });
  });

  it('cuts a long text at a character', async () => {
    const { read, counts } = await recorded({ text: 'é'.repeat(40_000) });
    expect(read['text']).toBe('é'.repeat(32_767));
    expect(counts).toEqual({ texts: 1, omitted: 0 });
  });

  it('is not the default, and nothing else is accepted', () => {
    const trace = openTrace(join(directory, 'strict.heph'));
    const stream = trace.stream();
    const finish = (): void => {
      stream.finishTrace(stream.startTrace(), 'event', { at: null } as never);
    };
    expect(finish).toThrow(/^at must be a string, number/);
    expect('attributes' in trace.stats()).toBe(false);
    expect(() => openTrace('x', { attributes: 'loose' as never })).toThrow(
      "attributes must be 'strict' or 'lenient'",
    );
  });
});
