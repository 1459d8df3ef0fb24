import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { ChromeEvent } from '../core/chrome-event.js';
import { headOfFile } from '../core/files/plain-file.js';
import type { Recovery, RecoverOptions } from '../core/recovery/recover-rings.js';
import { checkKernelEvents, checkReferences } from '../laplace/read/check.js';
import { kernelChromeEvents } from '../laplace/read/chrome.js';
import { dumpLine, dumpObject, mergedRecords, referenceRecords } from '../laplace/read/dump.js';
import type { LaplaceRecord } from '../laplace/read/dump.js';
import { readKernelEvents } from '../laplace/read/kernel-reader.js';
import type { Endian, ReferenceForm } from '../laplace/layout.js';
import { recoverTrace } from '../laplace/read/recover.js';
import { ringOf } from '../laplace/file-names.js';
import { readReferences } from '../laplace/read/reference-reader.js';
import { UsageError } from './command.js';
import { formatOfRing, ringedFiles } from './left-rings.js';
import type { TraceFormat } from './trace-format.js';

/** How long the first line of a text may be to be looked at. */
const HEAD_BYTES = 512;

const HEX = '[0-9a-fA-F]{1,16}';
const REFERENCE_LINE = new RegExp(
  `^[!-~] ${HEX} [0-9a-fA-F]{1,2} [0-9a-fA-F]{1,8} [0-9a-fA-F]{1,8}\\n`,
);
const KERNEL_LINE = new RegExp(
  `^(?:[sTBbpu] ${HEX} ${HEX}\\n|[FAC] ${HEX} ${HEX} ${HEX}\\n|[DmSU](?: ${HEX}){4,5}\\n|` +
    `[XM(](?: ${HEX}){5,8} [^\\n]+|[P)<>-](?: ${HEX}){4,7}\\n|c\\n?$)`,
);

const NOT_DRAWN = 'holds memory references, which no viewer shows; `tracewright dump` prints them';

/** The names by which files of each kind are found in a directory. */
const EXTENSIONS = {
  binary: '.references',
  text: '.references.txt',
  kernel: '.kernel.txt',
} as const;

type Kind = keyof typeof EXTENSIONS;

function head(path: string): string {
  return headOfFile(path, HEAD_BYTES).toString('latin1');
}

function fileOfRing(ring: string): string | undefined {
  const name = /^\.(.+)\.ring$/.exec(basename(ring))?.[1];
  return name === undefined ? undefined : join(dirname(ring), name);
}

/** Names of rings that belong to other formats. */
const OTHER_RING = /\.bin\.(?:names\.)?ring$|^\.(?:stream|thread\.\d+)\.ring$|\.\d+-\d+-\d+\.ring$/;

/** What the ring that a dead process has left says of its file. */
function kindOfRing(path: string): string | undefined {
  return formatOfRing(ringOf(resolve(path)));
}

function isFileOf(kind: Kind, path: string): boolean {
  if (path.endsWith(EXTENSIONS[kind])) return true;
  const known = Object.values(EXTENSIONS).some((extension) => path.endsWith(extension));
  if (known) return false;
  const ring = kindOfRing(path);
  if (ring?.startsWith('laplace-') === true) return ring === `laplace-${kind}`;
  // A binary trace has nothing by which to tell it.
  if (kind === 'binary') return false;
  return (kind === 'text' ? REFERENCE_LINE : KERNEL_LINE).test(head(path));
}

function filesIn(kind: Kind, directory: string): string[] {
  const named = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(EXTENSIONS[kind]))
    .map((entry) => join(directory, entry.name));
  const ringed = ringedFiles(directory, fileOfRing)
    .filter(({ path, format }) =>
      format === undefined
        ? // Of which kind it would have become nobody knows; one of them takes it away.
          kind === 'binary' && !OTHER_RING.test(`.${basename(path)}.ring`)
        : format === `laplace-${kind}`,
    )
    .map(({ path }) => path);
  return [...new Set([...named, ...ringed])].sort();
}

/**
 * Recovery is told what a file is only where its name or its ring says so: what is cut off at the end
 * depends on it.
 */
function recover(kind: Kind, path: string, options: RecoverOptions): Recovery {
  const isKnown = !existsSync(ringOf(resolve(path))) || kindOfRing(path) !== undefined;
  return recoverTrace(
    path,
    isKnown || path.endsWith(EXTENSIONS[kind]) ? { ...options, kind } : options,
  );
}

function* lines(records: Iterable<LaplaceRecord>, json: boolean): Generator<string, void> {
  for (const record of records) yield json ? JSON.stringify(dumpObject(record)) : dumpLine(record);
}

const CLOCK = "the machine's cycle counter";

function referenceFormat(form: ReferenceForm, endian: Endian): TraceFormat {
  return {
    name: `laplace-${form}`,
    clock: CLOCK,
    isTraceFile: (path) => isFileOf(form, path),
    tracesIn: (directory) => filesIn(form, directory),
    dump: (path, json, { kernel, onProgress }) => {
      const options = { form, endian, onProgress };
      const records =
        kernel === undefined
          ? referenceRecords(path, options)
          : mergedRecords(path, kernel, options);
      return lines(records, json);
    },
    interleavesKernel: true,
    notDrawn: NOT_DRAWN,
    check: (path, { onProgress }) => checkReferences(path, { form, endian, onProgress }),
    recover: (path, options) => recover(form, path, options),
    chromeEvents(path): Iterable<ChromeEvent> {
      throw new UsageError(`${path} ${NOT_DRAWN}`);
    },
    epoch: () => undefined,
    firstTime(path) {
      for (const { timestamp } of readReferences(path, { form, endian })) return timestamp;
      return undefined;
    },
  };
}

const kernelFormat: TraceFormat = {
  name: 'laplace-kernel',
  clock: CLOCK,
  isTraceFile: (path) => isFileOf('kernel', path),
  tracesIn: (directory) => filesIn('kernel', directory),
  dump: (path, json, { onProgress }) => lines(readKernelEvents(path, { onProgress }), json),
  check: (path, { onProgress }) => checkKernelEvents(path, { onProgress }),
  recover: (path, options) => recover('kernel', path, options),
  chromeEvents: (path, { onProgress }) => kernelChromeEvents(path, { onProgress }),
  epoch: () => undefined,
  firstTime(path) {
    for (const event of readKernelEvents(path)) {
      return event.kind === 'end' ? undefined : event.timestamp;
    }
    return undefined;
  },
};

/**
 * Laplace: a format for each kind of file. The text forms are told by their first line, all by their
 * extensions; binary files otherwise only by what the user says.
 */
export function laplaceFormats(endian: Endian = 'little'): readonly TraceFormat[] {
  return [referenceFormat('binary', endian), referenceFormat('text', endian), kernelFormat];
}
