import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Recovery, RecoverOptions } from '../../core/recovery/recovery.js';
import { ringFormatAt } from '../../core/recovery/ring-file.js';
import { fileOfRing, kindOfName, kindOfRingFormat, ringOf } from '../file-names.js';
import type { TraceKind } from '../file-names.js';
import type { Endian, ReferenceForm } from '../layout.js';
import { checkKernelEvents, checkReferences } from './check.js';
import { dumpLine, dumpObject, mergedRecords, referenceRecords } from './dump.js';
import type { LaplaceRecord } from './dump.js';
import { readKernelEvents } from './kernel-reader.js';
import { readFirstRecord, recoverTrace } from './recover.js';
import { readReferences } from './reference-reader.js';
import { readKernelRows } from './rows.js';
import type { RingNames, TraceFormat } from '../../rows/trace-format.js';
import { headOfFile } from '../../core/files/regular-file.js';
import { traceViewer } from './view-trace.js';

const CLOCK = "the machine's cycle counter";
const NOT_DRAWN =
  'contains memory references, which no viewer draws; print them with `tracewright dump`';

function ringNames(kind: TraceKind): RingNames {
  return {
    isFormat: (format) => kindOfRingFormat(format) === kind,
    isRing: (path) => fileOfRing(path) !== undefined,
    fileOf: fileOfRing,
  };
}

function filesIn(kind: TraceKind, directory: string, ringed: readonly string[]): string[] {
  const named = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && kindOfName(entry.name) === kind)
    .map((entry) => join(directory, entry.name));
  return [...new Set([...named, ...ringed])].sort();
}

/** Recovers; the end of the file is repaired only if the file's name or ring confirms its kind. */
function recover(kind: TraceKind, path: string, options: RecoverOptions): Recovery {
  const isConfirmed =
    kindOfName(path) === kind ||
    !existsSync(ringOf(resolve(path))) ||
    ringFormatAt(ringOf(resolve(path)), path, 'recover') !== undefined;
  return recoverTrace(path, isConfirmed ? { ...options, kind } : options);
}

function* lines(records: Iterable<LaplaceRecord>, json: boolean): Generator<string, void> {
  for (const record of records) yield json ? JSON.stringify(dumpObject(record)) : dumpLine(record);
}

function referenceFormat(form: ReferenceForm, endian: Endian): TraceFormat {
  return {
    name: `laplace-${form}`,
    clock: CLOCK,
    rings: ringNames(form),
    isTraceFile: (path) => kindOfTrace(path) === form,
    tracesIn: (directory, ringed) => filesIn(form, directory, ringed),
    dump: (path, json, { kernel, onProgress }) => {
      const options = { form, endian, onProgress };
      const records =
        kernel === undefined
          ? referenceRecords(path, options)
          : mergedRecords(path, kernel, options);
      return lines(records, json);
    },
    mergesKernel: true,
    content: 'memory references',
    notDrawn: NOT_DRAWN,
    check: (path, { onProgress }) => checkReferences(path, { form, endian, onProgress }),
    unfinishedRules: [],
    open: (path) => {
      readFirstRecord(path, form);
    },
    recover: (path, options) => recover(form, path, options),
    traceViewer,
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
  rings: ringNames('kernel'),
  isTraceFile: (path) => kindOfTrace(path) === 'kernel',
  tracesIn: (directory, ringed) => filesIn('kernel', directory, ringed),
  dump: (path, json, { onProgress }) => lines(readKernelEvents(path, { onProgress }), json),
  check: (path, { onProgress }) => checkKernelEvents(path, { onProgress }),
  unfinishedRules: ['no-end'],
  open: (path) => {
    readFirstRecord(path, 'kernel');
  },
  recover: (path, options) => recover('kernel', path, options),
  traceViewer,
  rows: readKernelRows,
  content: 'kernel events',
  epoch: () => undefined,
  firstTime(path) {
    for (const event of readKernelEvents(path)) {
      return event.kind === 'end' ? undefined : event.timestamp;
    }
    return undefined;
  },
};

/** Laplace: one format for each kind of trace. */
export function laplaceFormats(endian: Endian): readonly TraceFormat[] {
  return [referenceFormat('binary', endian), referenceFormat('text', endian), kernelFormat];
}

/** The longest first line that is recognized. */
const HEAD_BYTES = 512;

const HEX = '[0-9a-fA-F]{1,16}';
const REFERENCE_LINE = new RegExp(
  `^[!-~] ${HEX} [0-9a-fA-F]{1,2} [0-9a-fA-F]{1,8} [0-9a-fA-F]{1,8}\\n`,
);
const KERNEL_LINE = new RegExp(
  `^(?:[sTBbpu] ${HEX} ${HEX}\\n|[FAC] ${HEX} ${HEX} ${HEX}\\n|[DmSU](?: ${HEX}){4,5}\\n|` +
    `[XM(](?: ${HEX}){5,8} [^\\n]+|[P)<>-](?: ${HEX}){4,7}\\n|c\\n?$)`,
);

/**
 * The kind of a trace by its name, its ring or its first line. A binary trace has no recognizable
 * content; undefined for it as for any other file.
 */
function kindOfTrace(path: string): TraceKind | undefined {
  const known = kindOfName(path) ?? kindOfRingFormat(ringFormatAt(ringOf(resolve(path)), path));
  if (known !== undefined) return known;
  const head = headOfFile(path, HEAD_BYTES).toString('latin1');
  if (REFERENCE_LINE.test(head)) return 'text';
  return KERNEL_LINE.test(head) ? 'kernel' : undefined;
}
