// The faults of docs/reliability/faults.md. Each brings one to a process that records, and says what the process
// has counted. What it has lost is what it says at its end: nothing is asked that only a test would know.

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SmallFileSystem } from '../tmpfs.mjs';
import { droppedEvents } from '../verify.mjs';
import { socketScenarios } from './socket-scenarios.mjs';

const RING = { ringBytes: 65_536 };
const fileFormats = ['heph', 'ovni 1', 'ovni 3', 'dumpi', 'laplace'];
const policies = ['block', 'drop'];

function fill(directory) {
  const fd = openSync(join(directory, 'balloon'), 'a');
  for (const bytes of [4096, 1]) {
    try {
      for (;;) writeSync(fd, Buffer.alloc(bytes));
    } catch {
      // Full.
    }
  }
  closeSync(fd);
}

function free(directory) {
  rmSync(join(directory, 'balloon'));
}

/** Runs a scenario on a small file system of its own. */
async function onSmallDisk(place, kib, scenario) {
  const files = new SmallFileSystem(place, kib / 1024, []);
  return { ...(await scenario(place)), unmount: () => files.unmount() };
}

/** Opens every file of a trace: what is deleted can be read as long as it is open. */
function holdFiles(place) {
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(place, name)).isFile() && !name.endsWith('.ring'))
    .map((name) => ({ name, fd: openSync(join(place, name), 'r') }));
}

function saveFiles(held, to) {
  for (const { name, fd } of held) {
    const bytes = Buffer.alloc(fstatSync(fd).size);
    readSync(fd, bytes, 0, bytes.length, 0);
    closeSync(fd);
    mkdirSync(dirname(join(to, name)), { recursive: true });
    writeFileSync(join(to, name), bytes);
  }
}

async function deleted({ start, place, events, options }, isKilled = false) {
  const directory = join(place, 'run');
  mkdirSync(directory);
  const recording = await start(directory, options);
  await recording.emit(events);
  const held = holdFiles(directory);
  rmSync(directory, { recursive: true });
  await recording.emit(events);
  // A thread of the process writes, and may find the directory missing.
  await delay(300);
  await recording.emit(events);
  let lost;
  if (isKilled) {
    await recording.kill();
    const dropped = [...droppedEvents(directory).values()].reduce((a, b) => a + b, 0);
    lost = { events: dropped, bytes: 0 };
  } else {
    lost = await recording.end();
  }
  saveFiles(held, join(place, 'deleted'));
  return { recording, lost };
}

/**
 * @typedef {object} Setting what a scenario gets.
 * @property {(place, options, more?) => Promise<RecordingProcess>} start
 * @property {string} place an empty directory.
 * @property {number} events
 * @property {object} options of the trace.
 */
export const scenarios = [
  {
    fault: 'none',
    formats: fileFormats,
    policies,
    async run({ start, place, events, options }) {
      const recording = await start(place, options);
      await recording.emit(events);
      return { recording, lost: await recording.end() };
    },
  },
  {
    fault: 'disk full, then free',
    formats: fileFormats,
    policies,
    mounts: true,
    run: ({ start, place, events, options }) =>
      onSmallDisk(place, 6144, async () => {
        const recording = await start(place, options);
        await recording.emit(events);
        fill(place);
        await recording.emit(events);
        await delay(200);
        free(place);
        await delay(500);
        await recording.emit(events);
        return { recording, lost: await recording.end() };
      }),
  },
  {
    fault: 'disk full to the end',
    formats: fileFormats,
    policies,
    mounts: true,
    run: ({ start, place, events, options }) =>
      onSmallDisk(place, 6144, async () => {
        const recording = await start(place, options);
        await recording.emit(events);
        fill(place);
        await recording.emit(events);
        const lost = await recording.end();
        free(place);
        return { recording, lost };
      }),
  },
  {
    fault: 'disk full, ended by SIGTERM',
    formats: fileFormats,
    policies: ['block'],
    mounts: true,
    run: ({ start, place, events, options }) =>
      onSmallDisk(place, 6144, async () => {
        const recording = await start(place, options);
        await recording.emit(events);
        fill(place);
        await recording.emit(events);
        // Nothing of the format handles it here: the rings say what was dropped.
        await recording.kill('SIGTERM');
        const dropped = [...droppedEvents(place).values()].reduce((a, b) => a + b, 0);
        free(place);
        return { recording, lost: { events: dropped, bytes: 0 } };
      }),
  },
  {
    fault: 'disk full, a thread ends',
    formats: fileFormats,
    policies: ['block'],
    mounts: true,
    run: ({ start, place, events, options }) =>
      onSmallDisk(place, 6144, async () => {
        const recording = await start(place, options);
        await recording.do('worker');
        await recording.emit(events);
        fill(place);
        await recording.endWorker(events);
        await recording.emit(events);
        free(place);
        return { recording, lost: await recording.end() };
      }),
  },
  {
    fault: 'disk full, killed',
    formats: fileFormats,
    policies: ['block'],
    mounts: true,
    run: ({ start, place, events, options }) =>
      onSmallDisk(place, 6144, async () => {
        const recording = await start(place, options);
        await recording.emit(events);
        fill(place);
        await recording.emit(events);
        await recording.kill();
        const dropped = [...droppedEvents(place).values()].reduce((a, b) => a + b, 0);
        free(place);
        return { recording, lost: { events: dropped, bytes: 0 } };
      }),
  },
  {
    fault: 'metadata cannot be written',
    formats: ['ovni 1', 'ovni 3'],
    policies: ['block'],
    mounts: true,
    run: ({ start, place, events, options }) =>
      onSmallDisk(place, 6144, async () => {
        const recording = await start(place, options);
        await recording.emit(events);
        fill(place);
        const { code } = await recording.do('metadata');
        if (code !== 'ERR_SYSTEM') throw new Error(`the metadata were written: ${code}`);
        free(place);
        await recording.emit(events);
        return { recording, lost: await recording.end() };
      }),
  },
  {
    fault: 'file size limit, then lifted',
    formats: fileFormats,
    policies: ['block'],
    async run({ start, place, events, options }) {
      const limit = (bytes) =>
        spawnSync('prlimit', [`--fsize=${bytes}:`, '--pid', String(recording.pid)]).status;
      const recording = await start(place, options);
      await recording.emit(100);
      if (limit(8192) !== 0) throw new Error('prlimit refuses');
      await recording.emit(events);
      limit('unlimited');
      await delay(500);
      await recording.emit(events);
      return { recording, lost: await recording.end() };
    },
  },
  {
    fault: 'writes fail with EIO',
    formats: fileFormats,
    policies: ['block'],
    shim: 'failing_writes',
    async run({ start, place, events, options, shim }) {
      const onOff = join(dirname(place), 'broken');
      const env = {
        LD_PRELOAD: shim,
        TRACEWRIGHT_TEST_SWITCH: onOff,
        TRACEWRIGHT_TEST_BROKEN: place,
      };
      const recording = await start(place, options, {}, { env });
      await recording.emit(events);
      writeFileSync(onOff, '');
      await recording.emit(events);
      rmSync(onOff);
      await delay(500);
      await recording.emit(events);
      return { recording, lost: await recording.end() };
    },
  },
  {
    fault: 'directory deleted',
    formats: fileFormats,
    policies,
    run: (setting) => deleted(setting),
  },
  ...[false, true].map((isKilled) => ({
    fault: `directory deleted, rotating${isKilled ? ', killed' : ''}`,
    formats: ['heph'],
    policies,
    run: (setting) =>
      deleted(
        {
          ...setting,
          options: { ...setting.options, rotateBytes: 1 << 18, maxBytes: 1 << 26 },
        },
        isKilled,
      ),
  })),
  {
    fault: 'rotation within a budget',
    formats: ['heph'],
    policies: ['block'],
    async run({ start, place, events, options }) {
      const recording = await start(place, {
        ...options,
        rotateBytes: 1 << 18,
        maxBytes: 1 << 20,
      });
      for (let i = 0; i < 10; i++) await recording.emit(events);
      await delay(500);
      const { deleted: pieces } = await recording.do('stats');
      return { recording, lost: await recording.end(), deleted: pieces.events };
    },
  },
  {
    fault: 'no descriptor left',
    formats: fileFormats,
    policies: ['block'],
    async run({ start, place, events, options }) {
      const recording = await start(place, options, {}, { descriptors: 80 });
      await recording.emit(events);
      const { code } = await recording.do('exhaust');
      if (code !== 'EMFILE') throw new Error(`descriptors are left: ${code}`);
      await recording.emit(events);
      await recording.do('release');
      await recording.emit(events);
      return { recording, lost: await recording.end() };
    },
  },
  ...socketScenarios,
].map((scenario) => ({ ...scenario, options: RING }));
