import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { isRequest } from '../../../src/look/index/index-row.js';
import { kindOfSpan } from '../../../src/look/report/names/interruption-kinds.js';
import { checkTrace } from '../../../src/ovni/read/check.js';
import { decodeArguments } from '../../../src/ovni/read/event-arguments.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { TracedProcess, temporaryDirectory } from '../../node/traced-process.js';

const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
/** ovni's own emulator, where the environment names one. */
const emulator = process.env['OVNIEMU'];

interface Mark {
  title: string;
  label: string;
  start: bigint;
  end: bigint;
}

/** The stacked marks of a trace, in order of their titles and beginnings. */
function marksIn(directory: string): Mark[] {
  const marks: Mark[] = [];
  for (const { path, version, metadata } of readTraceDirectory(directory).streams) {
    const open = new Map<number, Mark>();
    for (const event of readStream(path, { version })) {
      const { mcv, clock } = event;
      if (mcv !== 'OM[' && mcv !== 'OM]') continue;
      const { type, value } = decodeArguments(event) as { type: number; value: bigint };
      const { title, labels } = metadata.marks.get(type)!;
      if (mcv === 'OM[')
        open.set(type, { title, label: labels.get(value)!, start: clock, end: 0n });
      else marks.push({ ...open.get(type)!, end: clock });
    }
  }
  return marks.sort((a, b) => Number(a.start - b.start) || (a.title < b.title ? -1 : 1));
}

function converted(service: TracedProcess): string {
  const out = join(temporaryDirectory(), 'ovni3');
  const arguments_ = [command, 'convert', '--to', 'ovni3', service.directory, out];
  const { status, stderr } = spawnSync(process.execPath, arguments_, { encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stderr).toMatch(/thread/);
  expect([...checkTrace(out)]).toEqual([]);
  if (emulator !== undefined) {
    const emulated = spawnSync(emulator, ['-l', out], { encoding: 'utf8' });
    expect(emulated.stderr.trimEnd()).toMatch(/emulation finished ok$/);
  }
  return out;
}

it('requests, stalls and collections of Heph are marks at their times', async () => {
  const service = new TracedProcess('blocked-service.mjs', {
    env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_STALL_MS: '50', TRACEWRIGHT_GC_MS: '1' },
    flags: ['--expose-gc'],
  });
  for (const path of ['/nothing', '/loop', '/collect', '/turn', '/turn']) await service.get(path);
  await Promise.all(['/turn', '/turn', '/turn'].map((path) => service.get(path)));
  await service.get('/exit');
  await service.ended();
  const marks = marksIn(converted(service));
  const index = await openLookIndex([service.directory], { cache: false });
  const wanted = index.parts.flatMap((part) =>
    Array.from({ length: part.count }, (_, at) => {
      const name = part.names.text(part.name[at]!);
      const isWanted = kindOfSpan(name) !== undefined || isRequest(part.flags[at]!);
      const start = index.epoch + BigInt(Math.round(part.start[at]! + part.offset));
      return isWanted ? [{ name, start, duration: BigInt(Math.round(part.duration[at]!)) }] : [];
    }).flat(),
  );
  index.close();
  expect(marks).toHaveLength(wanted.length);
  for (const { name, start, duration } of wanted) {
    const of = marks.filter((mark) => mark.start === start && mark.end - mark.start === duration);
    expect(of.map(({ label }) => label)).toContainEqual(
      name === 'event loop blocked' ? expect.stringMatching(/^(code|held|wait|stop)$/) : name,
    );
  }
  const titles = new Set(marks.map(({ title }) => title));
  expect(titles).toContain('Garbage collection');
  expect(titles).toContain('Event loop blocked');
  expect(titles).toContain('HTTP requests, lane 3');
}, 60_000);

it('of more requests at once than there are lanes, their number is there', async () => {
  const service = new TracedProcess('service.mjs');
  const held = Array.from({ length: 70 }, () => service.get('/hold').catch(() => undefined));
  await service.printed(/^(?:held\n(?:(?!held).*\n)*){70}/m);
  await service.get('/exit').catch(() => undefined);
  await service.ended();
  await Promise.all(held);
  const out = converted(service);
  const [stream] = readTraceDirectory(out).streams;
  const counts: bigint[] = [];
  for (const event of readStream(stream!.path, { version: 3 })) {
    if (event.mcv === 'OM=') counts.push((decodeArguments(event) as { value: bigint }).value);
  }
  expect(counts.reduce((most, each) => (each > most ? each : most))).toBeGreaterThan(70n);
  expect(marksIn(out).filter(({ title }) => title.startsWith('HTTP requests'))).toEqual([]);
}, 60_000);
