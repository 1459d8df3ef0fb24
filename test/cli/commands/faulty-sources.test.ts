import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { encodeSpan } from '../../export/span-file.js';
import { tracewright } from '../run-command.js';

const directory = temporaryDirectory();
const EPOCH = encodeEpoch(1_700_000_000_000_000_000n);
const CLOCK = encodeEvent(
  someEvent({
    description: 'tracewright.clock',
    attributes: [
      { name: '~v', type: 'u64', value: 1n },
      { name: 'realtime', type: 'f64', value: 0.5 },
    ],
  }),
);
const span = (id: bigint): Buffer =>
  encodeSpan({ id, name: `work ${id}`, start: id, end: id + 9n });

/** A whole trace, one with a faulty record, and an ovni directory that could not begin. */
function sources(name: string): string {
  const place = join(directory, name);
  writeTrace(place, 'faulty.heph', EPOCH, span(1n), CLOCK, span(2n));
  writeTrace(place, 'whole.heph', EPOCH, span(3n));
  mkdirSync(join(place, 'ovni', 'loom.node0.1'), { recursive: true });
  return place;
}

const ALL = ['work 1', 'work 2', 'work 3'];

describe('a directory with faulty sources', () => {
  const place = sources('faulty');
  const commands: Record<string, string[]> = {
    report: ['report', place, '--json', '--cache', 'off', '--by', 'name'],
    'report --against': ['report', place, '--against', place, '--cache', 'off'],
    dump: ['dump', place],
    perfetto: ['convert', '--to', 'perfetto', place],
    otlp: ['convert', '--to', 'otlp', place],
    check: ['check', place],
  };

  it.each(Object.entries(commands))(
    '%s reads the rest, names the fault and ends with 1',
    (name, args) => {
      const { status, stdout, stderr } = tracewright(...args);
      expect(status).toBe(1);
      const said = name === 'check' ? stdout : stderr;
      expect(said).toMatch(/faulty\.heph, byte \d+: .*"realtime" is f64; want u64 or i64/);
      if (name !== 'otlp') expect(said).toContain('there is no ovni trace here');
      expect(said).not.toContain('RangeError');
      if (name === 'check') expect(stdout).toContain('whole.heph: acceptable');
      else if (name !== 'report --against') for (const each of ALL) expect(stdout).toContain(each);
    },
  );

  it('perfetto and parquet have all spans', () => {
    for (const kind of ['perfetto', 'parquet']) {
      const out = join(directory, `out.${kind}`);
      const { status, stderr } = tracewright('convert', '--to', kind, place, out);
      expect(status).toBe(1);
      expect(stderr).toContain(kind === 'parquet' ? '3 spans' : '3 events');
    }
  });

  it('a whole directory ends with 0', () => {
    const whole = join(directory, 'whole');
    writeTrace(whole, 'whole.heph', EPOCH, span(3n));
    expect(tracewright('report', whole, '--cache', 'off').status).toBe(0);
    expect(tracewright('dump', whole).status).toBe(0);
  });

  it('many faults of a file are counted', () => {
    const many = writeTrace(directory, 'many.heph', EPOCH, ...Array<Buffer>(50).fill(CLOCK));
    const { stderr } = tracewright('dump', many);
    expect(stderr.match(/"realtime" is f64/g)).toHaveLength(20);
    expect(stderr).toContain('many.heph: 30 more faults');
  });
});
