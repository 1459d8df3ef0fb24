import { timeZeroLabel } from '../../../src/core/wall-clock.js';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { convertToPicture, drawnEvents } from '../../export/perfetto/drawn-events.js';
import type { PictureEvent } from '../../rows/row-events.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { encodeSpan } from '../../export/span-file.js';
import { tracewright } from '../run-command.js';
import type { Run } from '../run-command.js';
import { writeOvniTrace } from '../small-ovni-trace.js';

const directory = temporaryDirectory();
const EPOCH = 1_610_113_734_118_010_000n;
const epoch = encodeEpoch(EPOCH);
const event = encodeEvent(someEvent({ start: 1234n, end: 2234n }));

const slicesIn = (out: string): PictureEvent[] =>
  drawnEvents(readFileSync(out)).filter(({ ph }) => ph === 'X');

describe('tracewright convert --to perfetto', { timeout: 60_000 }, () => {
  it('writes to standard output without OUT and with -', () => {
    const path = writeTrace(directory, 'one.heph', epoch, event);
    const { status, stdout, stderr } = tracewright('convert', '--to', 'perfetto', path);
    expect([status, stderr]).toEqual([0, '']);
    const { events, bytes } = convertToPicture(path);
    expect(stdout).toBe(bytes.toString('utf8'));
    expect(events.at(-1)).toMatchObject({ name: 'event', ph: 'X', ts: 0, dur: 1 });
    expect(tracewright('convert', '--to', 'perfetto', path, '-').stdout).toBe(stdout);
  });

  it('writes a new file, and takes the place of one only with --force', () => {
    const path = writeTrace(directory, 'two.heph', epoch, event);
    const out = join(directory, 'two.pftrace');
    const converted = tracewright('convert', '--to', 'perfetto', path, out);
    expect(converted).toMatchObject({ status: 0, stdout: '' });
    expect(converted.stderr).toBe(`${out}: 1 event; open it in https://ui.perfetto.dev\n`);
    const first = readFileSync(out);
    expect(slicesIn(out)).toHaveLength(1);

    writeTrace(directory, 'two.heph', epoch, event, event);
    const refused = tracewright('convert', '--to', 'perfetto', path, out);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(`${out} exists; replace it with --force`);
    expect(readFileSync(out)).toEqual(first);

    expect(tracewright('convert', '--to', 'perfetto', '--force', path, out).status).toBe(0);
    expect(slicesIn(out)).toHaveLength(2);
  });

  it('never writes over the trace itself', () => {
    const path = writeTrace(directory, 'kept.heph', epoch, event);
    const link = join(directory, 'link');
    symlinkSync(path, link);
    for (const out of [path, link]) {
      const { status, stderr } = tracewright('convert', '--to', 'perfetto', '--force', path, out);
      expect([status, stderr]).toEqual([2, expect.stringContaining('is a part of the trace')]);
    }
    expect(readFileSync(path)).toEqual(Buffer.concat([epoch, event]));
  });

  it('says what is wrong with a place that cannot be written', () => {
    const path = writeTrace(directory, 'three.heph', epoch, event);
    const out = join(directory, 'no', 'such', 'place.pftrace');
    const { status, stderr } = tracewright('convert', '--to', 'perfetto', path, out);
    expect([status, stderr]).toEqual([2, expect.stringContaining(`cannot write ${out}: ENOENT`)]);
  });

  it('keeps what precedes a fault', () => {
    const path = writeTrace(directory, 'fault.heph', epoch, event, event.subarray(0, 40));
    const out = join(directory, 'fault.pftrace');
    const { status, stderr } = tracewright('convert', '--to', 'perfetto', path, out);
    expect(status).toBe(1);
    expect(stderr).toContain(`tracewright convert: ${path}, byte 70: `);
    expect(slicesIn(out)).toHaveLength(1);
  });

  it('lines Heph traces up by their epochs, to the nanosecond, and keeps processes apart', () => {
    const path = join(directory, 'two-epochs');
    const overlapping = [0n, 1000n].map((start) =>
      encodeEvent(someEvent({ start, end: start + 1500n })),
    );
    writeTrace(path, 'a.heph', encodeEpoch(EPOCH + 3_000_000_000_001n), event, ...overlapping);
    writeTrace(path, 'b.heph', epoch, event, ...overlapping);
    const { events } = convertToPicture(path);
    const spans = events.filter(({ ph, dur }) => ph === 'X' && dur === 1);
    expect(spans.map(({ pid, ts }) => [pid, ts])).toEqual([
      [1, 3_000_000_001.235],
      [2, 1.234],
    ]);
    const labels = events.filter(({ name }) => name === 'process_labels');
    expect(labels.map(({ pid, args }) => [pid, args])).toEqual(
      [1, 2].map((pid) => [pid, { labels: timeZeroLabel(EPOCH) }]),
    );
    // What overlaps lies on two lanes.
    const overlap = events.filter(({ ph, dur }) => ph === 'X' && dur === 1.5);
    expect(new Set(overlap.map(({ pid, tid }) => `${pid} ${tid}`)).size).toBe(4);
  });

  it('leaves the clock of an ovni trace that is alone as it is', () => {
    const path = join(directory, 'alone');
    writeOvniTrace(path, 5_000_000_000_000n);
    const { events } = convertToPicture(path);
    const times = events.filter(({ ph }) => ph !== 'M').map(({ ts }) => ts);
    expect(Math.min(...times)).toBe(5_000_000_000);
    const { labels } = events.find(({ name }) => name === 'process_labels')!.args!;
    expect(labels).toBe('time 0 is not known: times are those of CLOCK_MONOTONIC');
  });

  it('moves an ovni trace beside a Heph trace to begin at 0, and says so', () => {
    const path = join(directory, 'mixed');
    writeOvniTrace(join(path, 'ovni'), 5_000_000_000_000n, 1);
    writeTrace(path, 'heph/1.heph', epoch, event);
    const { events } = convertToPicture(path);
    const ovni = events.filter(({ ph, pid }) => ph !== 'M' && pid === 1);
    expect(ovni.map(({ ts }) => ts).sort((a, b) => a - b)).toEqual([0, 5]);
    // The process of the Heph trace would be 1 too.
    expect(events.filter(({ ph, pid }) => ph === 'X' && pid === 2)).toMatchObject([{ ts: 0 }]);
    const labels = events.filter(({ name }) => name === 'process_labels');
    expect(labels).toMatchObject([
      {
        pid: 1,
        args: {
          labels: 'CLOCK_MONOTONIC minus 5000000000000 ns, not aligned with the other traces',
        },
      },
      { pid: 2, args: { labels: expect.stringContaining('2021-01-08') as string } },
    ]);
  });
});

describe('tracewright convert --to ovni3', { timeout: 60_000 }, () => {
  it('writes a new directory and tells what it wrote', () => {
    const path = join(directory, 'version1');
    const out = join(directory, 'version3');
    writeOvniTrace(path, 1000n);
    const { status, stdout, stderr } = tracewright('convert', '--to', 'ovni3', path, out);
    expect([status, stdout]).toEqual([0, '']);
    expect(stderr).toContain(`${out}: 3 events of 1 thread\n`);
    expect(existsSync(join(out, 'loom.node0.1000/proc.4242/thread.4242/stream.obs'))).toBe(true);
    expect(tracewright('check', out)).toMatchObject({ status: 0 });
  });

  it('finds the ovni trace beside the Heph traces of the register hook', () => {
    const path = join(directory, 'registered');
    const out = join(directory, 'registered3');
    writeOvniTrace(join(path, 'ovni'), 1000n);
    writeTrace(path, 'heph/1.heph', epoch, event);
    expect(tracewright('convert', '--to', 'ovni3', path, out).status).toBe(0);
    expect(readdirSync(out)).toEqual(['loom.node0.1000']);
  });

  it('replaces only with --force, and only what it could have written', () => {
    const path = join(directory, 'again1');
    const out = join(directory, 'again3');
    writeOvniTrace(path, 1000n);
    expect(tracewright('convert', '--to', 'ovni3', path, out).status).toBe(0);
    const refused = tracewright('convert', '--to', 'ovni3', path, out);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('--force')]);

    writeOvniTrace(path, 2000n, 77);
    expect(tracewright('convert', '--to', 'ovni3', '--force', path, out).status).toBe(0);
    expect(readdirSync(join(out, 'loom.node0.1000'))).toHaveLength(2);
    expect(readdirSync(directory).filter((name) => name.endsWith('.new'))).toEqual([]);

    writeTrace(out, 'notes.txt', Buffer.from('precious'));
    const foreign = tracewright('convert', '--to', 'ovni3', '--force', path, out);
    expect([foreign.status, foreign.stderr]).toEqual([2, expect.stringContaining('other files')]);
    expect(existsSync(join(out, 'notes.txt'))).toBe(true);

    const itself = tracewright('convert', '--to', 'ovni3', '--force', path, path);
    expect([itself.status, itself.stderr]).toEqual([2, expect.stringContaining('in one another')]);
  });

  it('leaves what was to be replaced when the conversion fails', () => {
    const path = join(directory, 'failing');
    const out = join(directory, 'failing3');
    writeOvniTrace(path, 1000n);
    expect(tracewright('convert', '--to', 'ovni3', path, out).status).toBe(0);
    writeTrace(path, 'loom.node0.1000/proc.4242/metadata.json', Buffer.from('{'));
    const failed = tracewright('convert', '--to', 'ovni3', '--force', path, out);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain('metadata.json');
    expect(tracewright('check', out)).toMatchObject({ status: 0 });
  });

  it('refuses what contains neither an ovni trace nor a Heph trace', () => {
    mkdirSync(join(directory, 'nothing'));
    expect(tracewright('convert', '--to', 'ovni3', join(directory, 'nothing'), 'x').status).toBe(2);
  });
});

describe('tracewright convert to the formats of other tools', { timeout: 60_000 }, () => {
  const span = encodeSpan({ id: 1n, start: 100n, end: 200n });

  it('writes a file or standard output, and says what it wrote', () => {
    const path = writeTrace(directory, 'span.heph', epoch, span, event);
    for (const [to, says] of [
      ['perfetto', '2 events; open it in https://ui.perfetto.dev'],
      ['otlp', '1 span; 1 event without ids left out: no spans'],
      ['parquet', '1 span; 1 event without ids left out: no spans'],
    ] as const) {
      const out = join(directory, `span.${to}`);
      const { status, stdout, stderr } = tracewright('convert', '--to', to, path, out);
      expect([status, stdout, stderr]).toEqual([0, '', `${out}: ${says}\n`]);
      const again = tracewright('convert', '--to', to, path, out);
      expect([again.status, again.stderr]).toEqual([
        2,
        expect.stringContaining('replace it with --force'),
      ]);
      const piped = tracewright('convert', '--to', to, path, '-');
      expect(piped.stdout).toBe(readFileSync(out).toString('utf8'));
    }
  });

  it('selects, and refuses what no conversion of the format has', () => {
    const path = writeTrace(directory, 'select.heph', epoch, span);
    const otlp = (...args: string[]): Run => tracewright('convert', '--to', 'otlp', path, ...args);
    expect(otlp('--where', 'name=span 1').stdout).toContain('"name":"span 1"');
    expect(otlp('--where', 'name=other').stdout).toBe('');
    expect(otlp('--encoding', 'protobuf').stdout).toContain('span 1');
    for (const [args, message] of [
      [['--to', 'otlp', '--where', 'parent=missing'], 'parent=missing needs the whole recording'],
      [['--to', 'otlp', '--where', 'cause=a*'], 'cause=a* needs the whole recording'],
      [['--to', 'otlp', '--since', 'noon'], '--since must be an ISO time'],
      [['--to', 'otlp', '--encoding', 'xml'], '--encoding must be json or protobuf'],
      [
        ['--to', 'ovni3', '--since', '+1s'],
        '--since, --until, --where and --traces are for perfetto',
      ],
      [['--to', 'parquet', '--encoding', 'json'], '--encoding is for otlp'],
    ] as const) {
      const { status, stderr } = tracewright('convert', path, ...args);
      expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  it('keeps what precedes a fault, and needs spans for OTLP and Parquet', () => {
    const path = writeTrace(directory, 'half.heph', epoch, span, span.subarray(0, 50));
    for (const to of ['perfetto', 'otlp', 'parquet']) {
      const out = join(directory, `half.${to}`);
      const { status, stderr } = tracewright('convert', '--to', to, path, out);
      expect([status, stderr]).toEqual([1, expect.stringContaining('half.heph, byte ')]);
      expect(readFileSync(out).length).toBeGreaterThan(100);
    }
    const ovni = join(directory, 'only-ovni');
    writeOvniTrace(ovni, 5_000_000_000_000n);
    const { status, stderr } = tracewright('convert', '--to', 'otlp', ovni);
    expect([status, stderr]).toEqual([2, expect.stringContaining('which has no spans')]);
  });
});
