import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as heph from '../../src/heph/index.js';
import {
  DEFINITION_STREAM,
  EVENT_MAGIC,
  SIZE_OFFSET,
  STREAM_OFFSET,
} from '../../src/heph/layout.js';
import { Shipper } from '../../src/ship/shipper.js';
import type { ShipTarget } from '../../src/ship/target.js';
import { SpanFollower } from '../../src/spans/read/span-follower.js';
import type { SpanPosition } from '../../src/spans/read/span-follower.js';
import { startSpan } from '../../src/spans/start-span.js';
import type { SpanRecord } from '../../src/spans/span-record.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { recorded } from '../spans/span-trace.js';
import { Receiver } from './receiver.js';
import { endAll, recording, ShipProcess } from './shipped.js';

const directory = temporaryDirectory();
afterEach(endAll);

/** Bytes that a process has read, of whatever it is. */
function readBy(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1]);
}

describe('what ship reads', () => {
  it.each([
    { perSecond: 20_000, padding: 1000, most: 40_000 },
    { perSecond: 1000, padding: 200, most: 4000 },
  ])('is little more than what is new, of a living process: %o', async (spans) => {
    const { most } = spans;
    const traces = mkdtempSync(join(directory, 'living-'));
    const receiver = await new Receiver().listen();
    try {
      const args = [traces, '--to', receiver.url, '--checkpoint', join(traces, 'checkpoint')];
      const ship = new ShipProcess(args);
      await vi.waitFor(() => {
        expect(ship.output).toContain('follows');
      }, 30_000);
      const before = readBy(ship.child.pid!);
      const target = join(traces, 'living.heph');
      await recording({ target, ...spans });
      await vi.waitFor(() => {
        expect(receiver.spans.length).toBe(most);
      }, 60_000);
      const { size } = statSync(target);
      expect((readBy(ship.child.pid!) - before) / size).toBeLessThan(1.1);
    } finally {
      await receiver.close();
    }
  });
});

/** A trace of some spans, and as much again as wanted of the definition of their resource. */
async function definedOften(path: string, bytes: number): Promise<void> {
  mkdirSync(path);
  await recorded(path, () => {
    for (let n = 0; n < 3; n++) startSpan('one', { n }).end();
  });
  const file = join(path, readdirSync(path)[0]!);
  const packets: Buffer[] = [];
  for (let rest = readFileSync(file); rest.length > 0; rest = rest.subarray(packets.at(-1)!.length))
    packets.push(rest.subarray(0, rest.readUInt32BE(SIZE_OFFSET)));
  const definition = packets.find(
    (packet) =>
      packet.readUInt32BE(0) === EVENT_MAGIC &&
      packet.readUInt32BE(STREAM_OFFSET) === DEFINITION_STREAM &&
      packet.includes('tracewright.resource'),
  )!;
  const often = Array<Buffer>(Math.ceil(bytes / definition.length)).fill(definition);
  const first = packets.indexOf(definition);
  writeFileSync(
    file,
    Buffer.concat([...packets.slice(0, first), ...often, ...packets.slice(first)]),
  );
}

describe('where the reading of a file goes on', () => {
  it('is some numbers, however much the file defines, and enough for another process', async () => {
    const path = join(directory, 'defined');
    await definedOften(path, 1 << 20);
    const file = join(path, readdirSync(path)[0]!);
    const onFault = (fault: Error): void => {
      throw fault;
    };
    const follower = new SpanFollower(file, { onFault });
    let first: SpanRecord | undefined;
    for (const span of follower.read()) {
      first = span;
      if (span !== undefined) break;
    }
    const position = JSON.parse(JSON.stringify(follower.position)) as SpanPosition;
    expect(position.definitions.length).toBeLessThan(10);
    const rest = [...new SpanFollower(file, { onFault }, position).read()];
    expect(rest.map((span) => span?.resource)).toEqual([first!.resource, first!.resource]);
    expect(first!.resource).toBeDefined();
  });
});

describe('the memory of ship', () => {
  it('does not grow with the files that are complete', async () => {
    const [FILES, SPANS] = [1500, 50];
    const traces = join(directory, 'many');
    mkdirSync(traces);
    await recorded(traces, () => {
      for (let n = 0; n < SPANS; n++) startSpan('one', { n }).end();
    });
    const [name] = readdirSync(traces);
    for (let i = 1; i < FILES; i++)
      copyFileSync(join(traces, name!), join(traces, `${i}.copy.heph`));
    const receiver = await new Receiver().listen();
    try {
      const args = [traces, '--to', receiver.url, '--checkpoint', join(directory, 'many.json')];
      const { pid } = new ShipProcess(args).child;
      await vi.waitFor(() => {
        expect(receiver.spans.length).toBe(FILES * SPANS);
      }, 60_000);
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const mebibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
      expect(mebibytes).toBeLessThan(250);
    } finally {
      await receiver.close();
    }
  });
});

/** Turns of the event loop that others have while a shipper reads everything below a path. */
async function turnsWhile(path: string, accepts?: (span: SpanRecord) => boolean) {
  const target: ShipTarget = {
    label: 'test',
    send: () => Promise.resolve({ kind: 'accepted' }),
    close: () => Promise.resolve(),
  };
  const shipper = new Shipper(target, undefined, {
    paths: [path],
    ringDirs: [],
    owners: undefined,
    newestFirst: false,
    inFlight: 1,
    accepts,
    resource: {},
    refusedSpans: undefined,
    bytesPerSecond: Infinity,
    onMessage: () => undefined,
    onFault(fault) {
      throw fault;
    },
  });
  let isRunning = true;
  let turns = 0;
  const turn = (): void => {
    turns++;
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  await shipper.run('once');
  isRunning = false;
  return turns;
}

describe('the event loop of ship', () => {
  const MEBIBYTES = 12;
  const text = 'x'.repeat(1 << 14);

  it('is free now and then in a file without spans', async () => {
    const path = join(directory, 'plain.heph');
    const trace = heph.openTrace(path);
    const stream = trace.stream(0);
    for (let i = 0; i < MEBIBYTES * 64; i++) stream.finishTrace(stream.startTrace(), text);
    await trace.close();
    expect(statSync(path).size).toBeGreaterThan(MEBIBYTES << 20);
    expect(await turnsWhile(path)).toBeGreaterThanOrEqual(MEBIBYTES);
  });

  it('is free now and then where no span is selected', async () => {
    const path = join(directory, 'spans');
    mkdirSync(path);
    await recorded(path, () => {
      for (let i = 0; i < MEBIBYTES * 64; i++) startSpan('one', { attributes: { text } }).end();
    });
    expect(await turnsWhile(path, () => false)).toBeGreaterThanOrEqual(MEBIBYTES);
  });

  it('is free now and then where a file only defines', async () => {
    const path = join(directory, 'definitions');
    await definedOften(path, MEBIBYTES << 20);
    expect(await turnsWhile(path)).toBeGreaterThanOrEqual(MEBIBYTES);
  });
});
