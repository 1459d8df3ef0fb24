// The command `ship` on a directory in which one trace is poisoned: the spans of the others must be sent, each once,
// and a second run must send none of them again.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configure, flush, readSpans, startSpan } from 'tracewright/spans';
import { internal } from '../../scripts/package-layout.mjs';
import { Random } from '../random.mjs';
import { writeHeph } from './directory-fuzz.mjs';
import { mutate } from './mutate.mjs';
import { mutateMeaning } from './mutate-meaning.mjs';
import { mutateRing } from './mutate-ring.mjs';

const { TracewrightError } = internal('core/errors');
const { requestJson } = internal('export/otlp/otlp-json');
const { RequestEncoder } = internal('export/otlp/otlp-protobuf');
const { groupSpans } = internal('export/otlp/span-batches');
const { Checkpoint } = internal('ship/checkpoint');
const { metricsText } = internal('ship/metrics-text');
const { Shipper } = internal('ship/shipper');
const { SpanMetrics } = internal('ship/span-metrics');

const KILLED = fileURLToPath(
  new URL('../../test/spans/fixtures/killed-in-flight.mjs', import.meta.url),
);
const LABEL = 'fuzz';
const MOST_MESSAGES = 20;

/** Takes spans as a backend does, and keeps their ids. */
class Target {
  label = LABEL;
  ids = [];
  #encoder = new RequestEncoder();

  send({ spans }) {
    const groups = groupSpans(spans);
    this.#encoder.request(groups);
    // As of spans that are refused.
    JSON.parse(requestJson(groups));
    for (const { spanId } of spans) this.ids.push(spanId);
    return Promise.resolve({ kind: 'accepted' });
  }

  close() {
    return Promise.resolve();
  }
}

function onFault(fault) {
  const { cause, message } = fault;
  if (!(fault instanceof TracewrightError)) throw fault;
  if (cause !== undefined && !(cause instanceof TracewrightError) && fault.code !== 'ERR_SYSTEM') {
    throw cause;
  }
  // What is none of ours, and has no code of the system.
  if (fault.code === 'ERR_SYSTEM' && cause === undefined) throw new Error(message);
}

/** One run of the command. @returns the ids that were sent. */
async function ship(root, file) {
  const target = new Target();
  const checkpoint = new Checkpoint(file);
  const metrics = new SpanMetrics();
  let messages = 0;
  const shipper = new Shipper(target, checkpoint, {
    paths: [root],
    ringDirs: [],
    owners: undefined,
    newestFirst: false,
    inFlight: 1,
    accepts: undefined,
    resource: { team: 'a' },
    onSpan: (span) => metrics.add(span),
    onReleased: (released, resource) => metrics.addReleased(released, resource),
    refusedSpans: undefined,
    bytesPerSecond: Infinity,
    onMessage: () => messages++,
    onFault,
  });
  try {
    await shipper.run('once');
  } finally {
    checkpoint.close();
  }
  metricsText([shipper], metrics, true);
  if (messages > MOST_MESSAGES) throw new Error(`${messages} messages`);
  return target.ids;
}

async function idsAt(path) {
  const ids = [];
  for await (const { spanId } of readSpans(path)) ids.push(spanId);
  return ids.sort();
}

let root;
let state;
/** Ids that are to be sent whatever is poisoned. */
let good;
/** The checkpoint of a run in which nothing was poisoned. */
let earlier;
/** Files that are poisoned: traces, and rings. */
const poisoned = [];

/** Leaves the trace of a killed process, with spans that were open. */
function kill(target) {
  const { signal } = spawnSync(process.execPath, [KILLED, JSON.stringify({ target, count: 12 })]);
  if (signal !== 'SIGKILL') throw new Error('the process was not killed');
}

async function makeDirectory() {
  for (const name of ['a-good', 'b-ended', 'c-killed', 'd-living', 'e-good']) {
    mkdirSync(join(root, name), { recursive: true });
  }
  await writeHeph(join(root, 'a-good', 'one.heph'), 'one');
  kill(join(root, 'e-good', 'killed.heph'));
  good = [...(await idsAt(join(root, 'a-good'))), ...(await idsAt(join(root, 'e-good')))].sort();
  await writeHeph(join(root, 'b-ended', 'two.heph'), 'two');
  poisoned.push(join(root, 'b-ended', 'two.heph'));
  kill(join(root, 'c-killed', 'three.heph'));
  for (const name of readdirSync(join(root, 'c-killed'))) {
    poisoned.push(join(root, 'c-killed', name));
  }
  // Open until the end of this thread: a living process, whose file another one has changed.
  configure({ target: join(root, 'd-living', 'four.heph'), service: 'four' });
  for (let n = 0; n < 20; n++) startSpan('living', { n }).end();
  startSpan('open');
  await flush();
  poisoned.push(join(root, 'd-living', 'four.heph'));
}

/** Poisons a file in place: a follower takes another file for another trace. @returns what there was. */
function poison(random) {
  const path = random.pick(poisoned);
  const whole = readFileSync(path);
  let bytes;
  if (path.endsWith('.ring')) bytes = (random.chance(0.7) ? mutateRing : mutate)([whole], random);
  else bytes = (random.chance(0.5) ? mutateMeaning : mutate)([whole], random);
  writeFileSync(path, bytes);
  return { path, whole };
}

export const shipReaders = [
  {
    name: 'ship, one trace of many poisoned',
    async seeds(directory) {
      root = join(directory, 'traces');
      state = join(directory, 'state');
      mkdirSync(state);
      await makeDirectory();
      const checkpoint = join(state, 'checkpoint');
      const all = (await ship(root, checkpoint)).sort();
      earlier = readFileSync(checkpoint);
      const expected = new Set(await idsAt(root));
      if (all.length <= good.length || all.some((id) => !expected.has(id))) {
        throw new Error(`${all.length} spans were sent, ${expected.size} are there`);
      }
      return [Buffer.alloc(4)];
    },
    /** The input is the seed of what is poisoned. */
    mutate(_, random) {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(random.integer(0, 0xffff_ffff));
      return bytes;
    },
    headerBytes: 0,
    slowMs: 5000,
    share: 0.2,
    open: () => state,
    async read(_, bytes) {
      const random = new Random(bytes.readUInt32BE());
      rmSync(state, { recursive: true, force: true });
      mkdirSync(state);
      const checkpoint = join(state, 'checkpoint');
      // Half of them are poisoned after they were sent.
      const wereSent = random.chance(0.5);
      if (wereSent) writeFileSync(checkpoint, earlier);
      const { path, whole } = poison(random);
      try {
        const known = new Set(good);
        const expected = wereSent ? [] : good;
        const sent = (await ship(root, checkpoint)).filter((id) => known.has(id)).sort();
        if (JSON.stringify(sent) !== JSON.stringify(expected)) {
          throw new Error(
            `${path}: ${sent.length} spans of others were sent, not ${expected.length}`,
          );
        }
        const again = (await ship(root, checkpoint)).filter((id) => known.has(id));
        if (again.length > 0) throw new Error(`${path}: ${again.length} spans were sent again`);
        return 1;
      } finally {
        writeFileSync(path, whole);
      }
    },
  },
];
