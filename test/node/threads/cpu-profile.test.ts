import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import type { Profile } from '../../../src/look/index/look-index.js';
import { framesOf } from '../../../src/spans/read/profile-part.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { readPackets } from '../../../src/heph/index.js';
import { temporaryDirectory, TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';

const HZ = 100;
const SCRIPT = 'truth-program.mjs';
/** Contexts are kept where a sample can read them. */
const hasSpans = Number(process.versions.node.split('.')[0]) >= 24;

interface Ran {
  name: string;
  span: string;
  /** Ns of CLOCK_MONOTONIC. */
  from: number;
  to: number;
}

/** A sample within a function that ran by the program's own clock, and what it was. */
interface Judged extends Ran {
  frames: string[];
  sampled: string | undefined;
}

function ranIn(stdout: string): Ran[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [name, span, from, to] = line.split(' ') as [string, string, string, string];
      return { name, span, from: Number(from), to: Number(to) };
    });
}

async function profilesOf(service: TracedProcess): Promise<Profile[]> {
  const index = await openLookIndex([service.directory]);
  try {
    return [...index.profiles()];
  } finally {
    index.close();
  }
}

/** CLOCK_MONOTONIC at the time 0 of a trace. */
function zeroOf(path: string): number {
  for (const packet of readPackets(path)) {
    if (packet.kind !== 'event' || packet.description !== 'tracewright.clock') continue;
    const valueOf = (wanted: string) =>
      Number(packet.attributes.find(({ name }) => name === wanted)!.value);
    return valueOf('monotonic') - valueOf('time');
  }
  throw new Error('no clock record');
}

/** Nobody knows on which side of a function's edge a sample was taken. */
const EDGE = 50_000;

function judge(profiles: readonly Profile[], ran: readonly Ran[], zero: number): Judged[] {
  return profiles.flatMap(({ part }) =>
    part.samples.flatMap(({ time, node, span }) => {
      const at = time + zero;
      const within = ran.find(({ from, to }) => at > from + EDGE && at < to - EDGE);
      if (within === undefined) return [];
      return [{ ...within, frames: framesOf(part, node), sampled: part.spans[span] }];
    }),
  );
}

/** The functions of the program in a stack, the innermost first. */
function own(frames: readonly string[]): string[] {
  return frames
    .filter((frame) => frame.includes(SCRIPT))
    .map((frame) => /^at (\w+) \(/.exec(frame)?.[1] ?? 'anonymous');
}

describe.each(['main', 'worker'])('a CPU profile of a %s thread', (where) => {
  it('names the function and the span of interleaved requests', async () => {
    const service = new TracedProcess(SCRIPT, {
      env: { TRACEWRIGHT_PROFILE: `cpu:${HZ}` },
      args: ['1200', where],
    });
    const { code, stdout, stderr } = await service.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const profiles = await profilesOf(service);
    const zero = zeroOf(hephFiles(service.directory)[0]!);
    const judged = judge(profiles, ranIn(stdout), zero);
    // Whatever a function has allocated, a collection is named as one.
    const samples = judged.filter(({ frames }) => frames[0] !== '(garbage collector)');
    expect(samples.length).toBeGreaterThan(100);
    const isRight = ({ name, frames }: Judged) => own(frames)[0] === name;
    // What the function called, or what it was inlined into.
    const isNear = (sample: Judged) =>
      own(sample.frames).slice(0, 2).includes(sample.name) || own(sample.frames)[0] === 'anonymous';
    expect(samples.filter(isRight).length / samples.length).toBeGreaterThanOrEqual(0.9);
    const near = samples.filter((sample) => isRight(sample) || isNear(sample));
    expect(near.length / samples.length).toBeGreaterThanOrEqual(0.97);
    const known = judged.filter(({ sampled }) => sampled !== undefined);
    expect(known.filter(({ span, sampled }) => sampled !== span)).toEqual([]);
    if (hasSpans) expect(known.length / samples.length).toBeGreaterThanOrEqual(0.95);
    else expect(known).toEqual([]);
  });
});

describe('a CPU profile', () => {
  it('is added up by function, and by route where spans are known', async () => {
    const service = new TracedProcess(SCRIPT, {
      env: { TRACEWRIGHT_PROFILE: 'cpu:200' },
      args: ['600'],
    });
    await service.ended();
    const { report } = await reportOn(hephFiles(service.directory));
    const waves = report.profile.find((each) => each.function === 'waves')!;
    expect(waves.route).toBeNull();
    expect(waves.line).toContain(SCRIPT);
    expect(waves.time).toBe(waves.samples * 5e6);
    const routes = new Set(report.profile.map(({ route }) => route));
    expect([...routes]).toEqual(hasSpans ? [null, 'GET'] : [null]);
    // The package's own functions have one name, whatever path they have.
    expect(report.profile.filter(({ line }) => line.startsWith('tracewright/'))).toEqual([]);
  });

  it('is off unless it is asked for', async () => {
    const service = new TracedProcess(SCRIPT, { args: ['60'] });
    await service.ended();
    expect(await profilesOf(service)).toEqual([]);
  });

  it('survives a kill but for what the last second ran', async () => {
    const env = { TRACEWRIGHT_PROFILE: 'cpu:100' };
    const service = new TracedProcess('blocked-service.mjs', { env });
    for (const until = Date.now() + 2500; Date.now() < until;) await service.get('/nothing');
    await pause(1200);
    service.kill('SIGKILL');
    await service.ended();
    const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
    expect(spawnSync(process.execPath, [command, 'recover', service.directory]).status).toBe(0);
    const samples = (await profilesOf(service)).flatMap(({ part }) => part.samples);
    expect(samples.length).toBeGreaterThan(20);
  });

  it('leaves the program its own profiler, and works beside it', async () => {
    const env = { TRACEWRIGHT_PROFILE: 'cpu:100' };
    const service = new TracedProcess(SCRIPT, {
      env,
      args: ['400'],
      flags: ['--cpu-prof', `--cpu-prof-dir=${temporaryDirectory()}`],
    });
    expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
    const samples = (await profilesOf(service)).flatMap(({ part }) => part.samples);
    expect(samples.length).toBeGreaterThan(50);
  });
});
