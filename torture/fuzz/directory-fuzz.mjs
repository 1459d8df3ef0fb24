// Every command on a directory in which one source is broken: what is read of the others must be what is
// read of them alone, and what is not read is named.

import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { openRank } from 'tracewright/dumpi';
import { configure, readSpans, shutdown, startSpan } from 'tracewright/spans';
import { internal } from '../../scripts/package-layout.mjs';
import { mutate } from './mutate.mjs';
import { mutateJson } from './mutate-json.mjs';
import { mutateMeaning } from './mutate-meaning.mjs';

const { TraceFormatError, TracewrightError } = internal('core/errors');
const { findTraces } = internal('traces/find-traces');
const { TraceChecker } = internal('traces/check-found');
const { openLookIndex } = internal('look/index/open-look-index');
const { makeReport } = internal('look/report/report');
const { OtlpExport } = internal('export/otlp/otlp-export');
const { ParquetExport } = internal('export/parquet/parquet-export');
const { PictureExport } = internal('export/picture/picture-export');

const MAGIC = { heph: /\.heph$/, json: /\.json$/ };

/** Spans of a service, with links, events and an error. */
export async function writeHeph(path, service) {
  configure({ target: path, service, resource: { 'process.pid': 77 } });
  const parent = startSpan(
    'GET',
    { 'http.route': '/a', 'http.request.method': 'GET' },
    { kind: 'server' },
  );
  const link = startSpan('linked', undefined, { parent });
  const child = startSpan(
    'child',
    { a: true, b: [1, 'x', null], c: 5n, d: 0.5 },
    {
      parent,
      links: [{ to: link }],
      startTime: Date.now() - 1000,
    },
  );
  child.event('happened', { e: 1 });
  child.fail(new Error('wrong'));
  for (const span of [child, link, parent]) span.end();
  await shutdown();
}

/** Events of ovni, version 3: a thread that runs, with metadata as they must be. */
function writeOvni(directory) {
  const event = (mcv, clock, payload = Buffer.alloc(0)) => {
    const head = Buffer.alloc(12);
    head[0] = payload.length === 0 ? 0 : payload.length - 1;
    head.write(mcv, 1, 'latin1');
    head.writeBigUInt64LE(clock, 4);
    return Buffer.concat([head, payload]);
  };
  const execute = Buffer.alloc(16);
  execute.writeInt32LE(-1, 4);
  const folder = join(directory, 'loom.node0.1', 'proc.7');
  mkdirSync(folder, { recursive: true });
  const metadata = {
    version: 1,
    app_id: 1,
    cpus: [{ index: 0, phyid: 0 }],
    tracewright: { epoch: '1700000000000000000', threads: { 7: { node: { thread: 'main' } } } },
  };
  writeFileSync(join(folder, 'metadata.json'), JSON.stringify(metadata));
  writeFileSync(
    join(folder, 'thread.7'),
    Buffer.concat([event('OHx', 1000n, execute), event('OB.', 5000n), event('OHe', 9000n)]),
  );
  writeFileSync(
    join(directory, 'clock-offsets.txt'),
    'rank hostname offset_median offset_mean offset_std\n0 node0 0 0 0\n',
  );
}

function writeDumpi(directory) {
  const rank = openRank({
    directory,
    rank: 0,
    size: 1,
    startTime: new Date(2026, 0, 1),
    config: { timestamps: 'wall' },
  });
  rank.log('MPI_Init', { argv: ['a'] });
  rank.log('MPI_Send', { count: 1, datatype: 5, dest: 0, tag: 7, comm: 2 }, rank.enter());
  rank.log('MPI_Finalize', {});
  rank.close();
}

const kernelTrace = 's 10 1\nF 20 1 2\ns 30 2\nT 40 2\nc\n';

function filesBelow(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** The folder of a source by the path of one of its files. */
const folderOf = (root, path) => relative(root, path).split('/')[0];

/** What every command reads, by the folder of the source: as many records as it got. */
async function readAll(root) {
  const found = {};
  const faults = [];
  const onFault = (fault) => {
    if (
      fault.cause !== undefined &&
      !(fault.cause instanceof TracewrightError) &&
      fault.code !== 'ERR_SYSTEM'
    ) {
      throw fault.cause;
    }
    faults.push(fault.message);
  };
  const count = (path, what, by = 1) => {
    const of = (found[folderOf(root, path)] ??= {});
    of[what] = (of[what] ?? 0) + by;
  };
  const traces = findTraces([root], {}, { onFault });
  const unfinished = [];
  for (const trace of traces) {
    const { format, path } = trace;
    for (const json of [false, true]) {
      try {
        for (const line of format.dump(path, json, { onFault }))
          count(path, `dump ${json}`, line === '' ? 0 : 1);
      } catch (error) {
        onFault(typed(error));
      }
    }
    let errors = 0;
    for (const { severity } of new TraceChecker([]).check(trace, {}).findings) {
      if (severity === 'error') errors++;
    }
    unfinished.push({ path, errors });
  }
  const drawn = traces.filter(({ format }) => format.notDrawn === undefined);
  drain(new PictureExport(drawn, { onFault }).chunks());
  const spans = traces.filter(({ format }) => format.name === 'Heph');
  for (const encoding of ['json', 'protobuf']) {
    drain(new OtlpExport(spans, { onFault }).chunks(encoding));
  }
  const parquet = new ParquetExport(spans, { onFault }).chunks();
  while ((await parquet.next()).done !== true);
  for (const { path } of spans) {
    let got = 0;
    const before = faults.length;
    for await (const span of readSpans(path, { onFault })) got += span.spanId === '' ? 0 : 1;
    count(path, 'spans', got);
    await readStrictly(path, got, faults.length > before, unfinished);
  }
  const index = await openLookIndex([root], { cache: false });
  try {
    for (const part of index.parts) count(part.source.path, 'rows', part.count);
    const { report } = await makeReport(index, { pictures: 3, slowest: 3 });
    JSON.stringify(report);
    for (let row = 0; row < Math.min(index.rows, 20); row++) {
      index.span(row);
      index.details(row);
    }
    index.windows(
      0,
      Math.max(1, index.length),
      50,
      index.tracks.map(({ number }) => number),
    );
    for (const { reason } of index.unread) {
      if (reason.includes('the reader fails')) throw new Error(reason);
      faults.push(reason);
    }
  } finally {
    index.close();
  }
  return { found, faults, unfinished };
}

function drain(items) {
  while (items.next().done !== true);
}

/** What a reader without `onFault` throws is a finding of check, and one that `onFault` got. */
async function readStrictly(path, got, hasFaults, checked) {
  let strict = 0;
  let fault;
  try {
    for await (const span of readSpans(path, { living: false }))
      strict += span.spanId === '' ? 0 : 1;
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    fault = error.message;
  }
  if (hasFaults !== (fault !== undefined))
    throw new Error(`onFault: ${hasFaults}, thrown: ${fault}`);
  if (fault === undefined ? got !== strict : got < strict) {
    throw new Error(`${got} spans with onFault, ${strict} without`);
  }
  const { errors } = checked.find((each) => each.path === path);
  if (fault !== undefined && errors === 0) throw new Error(`check accepts: ${fault}`);
}

function typed(error) {
  if (error instanceof TracewrightError) return error;
  throw error;
}

const SOURCES = ['a-heph', 'b-heph', 'c-ovni', 'd-dumpi', 'e-kernel'];

async function makeDirectory(root) {
  for (const name of SOURCES) mkdirSync(join(root, name), { recursive: true });
  await writeHeph(join(root, 'a-heph', 'one.heph'), 'one');
  await writeHeph(join(root, 'b-heph', 'two.heph'), 'two');
  writeOvni(join(root, 'c-ovni'));
  writeDumpi(join(root, 'd-dumpi'));
  writeFileSync(join(root, 'e-kernel', 'x.kernel.txt'), kernelTrace);
}

/** Breaks one file of a directory. @returns what there was. */
function breakFile(files, random) {
  const path = random.pick(files);
  const good = readFileSync(path);
  const way = random.next();
  const restore = () => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, good);
  };
  if (way < 0.05) rmSync(path);
  else if (way < 0.1) writeFileSync(path, '');
  else if (way < 0.15) {
    rmSync(path);
    mkdirSync(path);
  } else if (good.length === 0) writeFileSync(path, 'something');
  else if (MAGIC.heph.test(path) && way < 0.8) writeFileSync(path, mutateMeaning([good], random));
  else if (MAGIC.json.test(path) && way < 0.8) writeFileSync(path, mutateJson([good], random));
  else writeFileSync(path, mutate([good], random));
  return { path, restore };
}

function mustBeTheSame(folder, alone, together) {
  const [one, other] = [alone[folder], together[folder]].map((each) => JSON.stringify(each ?? {}));
  if (one !== other) throw new Error(`${folder} alone ${one}, together ${other}`);
}

let root;
let whole;
let files;

export const directoryReaders = [
  {
    name: 'heph meaning, spans',
    async seeds(directory) {
      const path = join(directory, 'seed.heph');
      await writeHeph(path, 'meaning');
      const bytes = readFileSync(path);
      rmSync(path);
      return [bytes];
    },
    mutate: mutateMeaning,
    headerBytes: 0,
    open: (directory) => join(directory, 'trace.heph'),
    async read(path, bytes) {
      writeFileSync(path, bytes);
      const [trace] = findTraces([path]);
      let errors = 0;
      for (const { severity } of trace.format.check(path, {})) {
        if (severity === 'error') errors++;
      }
      const faults = [];
      const onFault = (fault) => {
        if (fault.cause !== undefined) throw fault.cause;
        faults.push(fault);
      };
      let got = 1;
      for await (const span of readSpans(path, { living: false, onFault }))
        got += span.spanId === '' ? 0 : 1;
      await readStrictly(path, got - 1, faults.length > 0, [{ path, errors }]);
      for (const line of trace.format.dump(path, true, { onFault })) got += line === '' ? 0 : 1;
      drain(new PictureExport([trace], { onFault }).chunks());
      return got;
    },
  },
  {
    name: 'every command, one source broken',
    async seeds(directory) {
      root = join(directory, 'sources');
      await makeDirectory(root);
      whole = await readAll(root);
      if (whole.faults.length > 0) throw new Error(`whole, but ${whole.faults[0]}`);
      files = filesBelow(root);
      return [Buffer.alloc(4)];
    },
    /** The input is the seed of what is broken. */
    mutate(_, random) {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(random.integer(0, 0xffff_ffff));
      return bytes;
    },
    headerBytes: 0,
    slowMs: 20_000,
    share: 0.05,
    open: (directory) => directory,
    async read(_, bytes) {
      const { Random } = await import('../random.mjs');
      const { path, restore } = breakFile(files, new Random(bytes.readUInt32BE()));
      const broken = folderOf(root, path);
      try {
        const { found } = await readAll(root);
        for (const folder of SOURCES) {
          if (folder !== broken) mustBeTheSame(folder, whole.found, found);
        }
        // Alone it may have no trace any more.
        const alone = await readAll(join(root, broken)).catch((error) => {
          typed(error);
          return undefined;
        });
        if (alone !== undefined) {
          const sum = (by) => Object.values(by).reduce((all, each) => all + (each.rows ?? 0), 0);
          const together = found[broken]?.rows ?? 0;
          if (sum(alone.found) > together) {
            throw new Error(`${broken}: ${sum(alone.found)} rows alone, ${together} together`);
          }
        }
        return 1;
      } finally {
        restore();
      }
    },
  },
];
