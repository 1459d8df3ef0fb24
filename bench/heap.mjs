// What a million records leave on the JavaScript heap while nothing collects it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { main } from './benchmark.mjs';

const LIMIT = 64 * 1024;
const RECORDS = 1_000_000;
/** Large enough for whatever a million records could leave, so that nothing is ever collected. */
const FLAGS = ['--expose-gc', '--max-semi-space-size=512', '--min-semi-space-size=512'];

/**
 * The ways to record; each gives a function that records `count` times, and one that ends.
 *
 * @type {Record<string, (directory: string) => Promise<{ run: (count: number) => void, end: () => unknown }>>}
 */
const ways = {
  'no record at all': async () => {
    let sum = 0;
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) sum += i & 1;
      },
      end: () => sum,
    };
  },
  'an object of one number (control)': async () => {
    const kept = [{ value: 0 }];
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) kept[0] = { value: i };
      },
      end: () => kept,
    };
  },
  'ovni event without payload': async (directory) => {
    const { event, end } = await ovni(directory);
    const bare = event('OB.');
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) bare();
      },
      end,
    };
  },
  'ovni event with 16 bytes': async (directory) => {
    const { event, end } = await ovni(directory);
    const payload = event('XYZ(i32 a, i32 b, u64 c)');
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) payload(i, i + 1, i);
      },
      end,
    };
  },
  'ovni emit': async (directory) => {
    const { emit, end } = await ovni(directory);
    const payload = new Uint8Array(8);
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) emit('OB.', payload);
      },
      end,
    };
  },
  'ovni marks': async (directory) => {
    const { markType, markPush, markPop, end } = await ovni(directory);
    markType(7, 'benchmark', { stack: true });
    return {
      run: (count) => {
        for (let i = 1; i <= count / 2; i++) {
          markPush(7, i);
          markPop(7, i);
        }
      },
      end,
    };
  },
  'ovni jumbo events, 64 bytes': async (directory) => {
    const { emitJumbo, end } = await ovni(directory);
    const data = new Uint8Array(64);
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) emitJumbo('OB.', data);
      },
      end,
    };
  },
  'Heph compiled spans': async (directory) => {
    const { openTrace } = await import('tracewright/heph');
    const trace = openTrace(join(directory, 'bench.heph'));
    const stream = trace.stream();
    const span = stream.span('request', { method: 'string', status: 'u64' });
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) span.finish(stream.startTrace(), 'GET', 200);
      },
      end: () => trace.close(),
    };
  },
  'Heph compiled spans with bigints': async (directory) => {
    const { openTrace } = await import('tracewright/heph');
    const trace = openTrace(join(directory, 'bench.heph'));
    const stream = trace.stream();
    const span = stream.span('request', { id: 'u64', parent: 'u64' });
    const ids = [0x8234567890abcdefn, 0xfedcba0987654321n];
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) span.finish(stream.startTrace(), ids[i & 1], ids[0]);
      },
      end: () => trace.close(),
    };
  },
  'Heph compiled spans, timing kept in an object': async (directory) => {
    const { openTrace } = await import('tracewright/heph');
    const trace = openTrace(join(directory, 'bench.heph'));
    const stream = trace.stream();
    const span = stream.span('request', { method: 'string', status: 'u64' });
    const requests = Array.from({ length: 64 }, () => ({ timing: stream.startTrace() }));
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) {
          const request = requests[i & 63];
          span.finish(request.timing, 'GET', 200);
          request.timing = stream.startTrace();
        }
      },
      end: () => trace.close(),
    };
  },
  'Heph compiled spans, timing in a field that is empty in between': async (directory) => {
    const { openTrace } = await import('tracewright/heph');
    const trace = openTrace(join(directory, 'bench.heph'));
    const stream = trace.stream();
    const span = stream.span('request', { method: 'string', status: 'u64' });
    /** @type {{ timing: import('tracewright/heph').Timing | undefined }[]} */
    const requests = Array.from({ length: 64 }, () => ({ timing: undefined }));
    return {
      run: (count) => {
        for (let i = 0; i < count; i += 64) {
          for (const request of requests) request.timing = stream.startTrace();
          for (const request of requests) {
            span.finish(request.timing, 'GET', 200);
            request.timing = undefined;
          }
        }
      },
      end: () => trace.close(),
    };
  },
  'Span of a service, two attributes': async (directory) => {
    const { configure, shutdown, startSpan } = await import('tracewright/spans');
    configure({ target: join(directory, 'bench.heph') });
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) {
          startSpan('request', { method: METHODS[i & 1], status: STATUSES[i & 1] }).end();
        }
      },
      end: shutdown,
    };
  },
  'its object and its attributes (control)': async () => {
    const kept = [{}];
    return {
      run: (count) => {
        for (let i = 0; i < count; i++) {
          kept[0] = new SpanFields(i, { method: METHODS[i & 1], status: STATUSES[i & 1] });
        }
      },
      end: () => kept,
    };
  },
};

/** Two of each, so that V8 folds none into the code. */
const METHODS = ['GET', 'POST'];
const STATUSES = [200, 404];

/** The fields of a span: ids, flags and references, a number that is no integer, and the caller's attributes. */
class SpanFields {
  /** @param {number} i @param {object} attributes */
  constructor(i, attributes) {
    this.t0 = this.t1 = this.t2 = this.t3 = this.s0 = this.s1 = this.p0 = this.p1 = i;
    this.flags = this.scope = this.state = this.slot = this.heldBytes = this.count = i;
    this.isBelow = false;
    this.start = i + 0.5;
    this.name = this.traceState = '';
    this.extras = this.output = this.carried = this.heldNames = undefined;
    this.own = attributes;
    this.root = this;
  }
}

/** @param {string} directory */
async function ovni(directory) {
  const api = await import('tracewright/ovni');
  api.procInit(1, 'bench', process.pid, { traceDir: directory });
  api.threadInit();
  return {
    ...api,
    end: () => {
      api.threadFree();
      api.procFini();
    },
  };
}

/** Nanoseconds that V8 keeps as small integers, without a box: a trace's first two seconds. */
const SMALL_MS = 2148;

/** The child: prints the bytes that are left, and the collections that came between. */
async function measureWay(/** @type {string} */ name, /** @type {string} */ directory) {
  const { run, end } = await ways[name](directory);
  await sleep(SMALL_MS);
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length;
  });
  // Compiles and settles the types, in pieces: the optimised loop comes in between. What runs only
  // where a ring is full takes millions of records for that.
  for (let i = 0; i < 100; i++) run(50_000);
  const { gc } = /** @type {{ gc: () => void }} */ (/** @type {unknown} */ (globalThis));
  await sleep(20);
  gc();
  gc();
  // What leaves objects must leave them without a collection.
  const records = /^(Span|its)/.test(name) ? RECORDS / 4 : RECORDS;
  // Those threw away bytecode that runs only where a ring is full; this compiles it again.
  run(records);
  observer.observe({ entryTypes: ['gc'] });
  getHeapStatistics();
  const before = getHeapStatistics();
  run(records);
  const after = getHeapStatistics();
  // Entries come a turn of the event loop later.
  await sleep(20);
  observer.disconnect();
  await end();
  console.log(
    JSON.stringify({
      heap: (after.used_heap_size - before.used_heap_size) * (RECORDS / records),
      external: after.external_memory - before.external_memory,
      collections,
    }),
  );
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const rows = [];
  const goals = [];
  let spanBytes = 0;
  for (const name of Object.keys(ways)) {
    let best;
    for (let run = 0; run < (quick ? 1 : 3); run++) {
      const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
      try {
        const output = execFileSync(
          process.execPath,
          [...FLAGS, fileURLToPath(import.meta.url), '--way', name, '--directory', directory],
          { encoding: 'utf8' },
        );
        const left = JSON.parse(output);
        if (best === undefined || left.heap < best.heap) best = left;
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }
    rows.push([name, best.heap, best.external, best.heap / RECORDS, best.collections]);
    if (name.startsWith('Span')) spanBytes = best.heap / RECORDS;
    if (name.startsWith('its object')) {
      const most = best.heap / RECORDS + 1;
      goals.push({
        goal: `a span leaves no more than its object and its attributes (${most.toFixed(0)} bytes)`,
        figure: spanBytes,
        met: spanBytes <= most,
      });
    }
    if (!/^(ovni|Heph)/.test(name) || name.includes('empty in between')) continue;
    goals.push({
      goal: `${name}: at most ${LIMIT} bytes`,
      figure: best.heap,
      met: best.heap <= LIMIT && best.collections === 0,
    });
  }
  return {
    tables: [
      {
        title: 'Heap that a million records leave',
        columns: ['', 'bytes', 'external bytes', 'bytes a record', 'collections'],
        rows,
      },
    ],
    goals,
    notes: [
      'A timing is a number above 2^31. V8 boxes it (12 to 16 bytes) when neither a register nor a field for numbers can hold it. Nothing of Tracewright is left.',
      `Each in a process of its own (node ${FLAGS.join(' ')}); the least of three runs.`,
    ],
  };
}

const way = process.argv.indexOf('--way');
if (way !== -1) {
  await measureWay(process.argv[way + 1], process.argv[process.argv.indexOf('--directory') + 1]);
} else {
  await main(import.meta.url, { title: 'Garbage that recording makes', measure });
}
