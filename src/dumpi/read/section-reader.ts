import { TraceFormatError } from '../../core/errors.js';
import { COUNTED_LABELS } from '../calls.js';
import { cursorOptions, FieldCursor } from './field-cursor.js';
import type { FieldCursorOptions } from './field-cursor.js';
import {
  FOOTER_MAGIC,
  INDEX_BYTES,
  INDEX_ENTRIES,
  MAGIC,
  MAGIC_BYTES,
  MAX_SECTION_ELEMENTS,
  MESH_SIZE_VERSION,
  OPTIONAL_INDEX_ENTRIES,
} from '../layout.js';
import type { SectionName } from '../layout.js';
import { isAtLeast } from '../sections.js';
import type { Footer, FunctionName, Header, Version } from '../sections.js';

/** Where a section lies. */
export interface Extent {
  /** Bytes from the start of the file. */
  offset: number;
  /** Bytes of the section. */
  size: number;
}

/** Everything in a trace file but the calls. */
export interface Sections {
  path: string;
  /** Size of the file in bytes. */
  fileSize: number;
  /** Bytes from the start of the file to the index, which ends the file. */
  indexOffset: number;
  /** The entries of the index; 0 is a section that is not there. */
  index: Readonly<Record<SectionName, number>>;
  header: Header | undefined;
  footer: Footer | undefined;
  keyvals: [key: string, value: string][];
  /** Labels of the performance counters, in the order of the counters of a call. */
  counterLabels: string[] | undefined;
  /** Bytes of each datatype; the index is the handle. */
  datatypeSizes: number[] | undefined;
  functionNames: FunctionName[];
  /** Where the sections that were read stand; the body's end is known only after its calls. */
  extents: Partial<Record<Exclude<SectionName, 'body'>, Extent>>;
}

/** The version that a trace without a header is taken to have, as the format's own reader does. */
export const NO_VERSION: Version = [0, 0, 0];

/** Sections of a file that has none yet. */
export function noSections(path: string): Sections {
  const entries = INDEX_ENTRIES.map((name) => [name, 0]);
  return {
    path,
    fileSize: 0,
    indexOffset: 0,
    index: Object.fromEntries(entries) as Record<SectionName, number>,
    header: undefined,
    footer: undefined,
    keyvals: [],
    counterLabels: undefined,
    datatypeSizes: undefined,
    functionNames: [],
    extents: {},
  };
}

/**
 * Reads the index of a trace file and the sections that it points to. The body is left to
 * {@link readCalls}.
 *
 * @throws TraceFormatError when the file does not begin with the magic, does not end with an index,
 *   or a section is not as the format says. TracewrightError `ERR_SYSTEM` when the file cannot be
 *   read.
 */
export function readSections(path: string, options: FieldCursorOptions = {}): Sections {
  options = cursorOptions(options);
  const { fileSize, indexOffset, index } = readIndex(path);
  const sections: Sections = { ...noSections(path), fileSize, indexOffset, index };
  const section = (name: Exclude<SectionName, 'body'>, read: (cursor: FieldCursor) => void) => {
    const offset = index[name];
    if (offset === 0) return;
    const cursor = new FieldCursor(path, offset, indexOffset, options);
    try {
      read(cursor);
      sections.extents[name] = { offset, size: cursor.offset - offset };
    } finally {
      cursor.close();
    }
  };
  section('header', (cursor) => (sections.header = readHeader(cursor)));
  section('footer', (cursor) => (sections.footer = readFooter(cursor)));
  section('keyvals', (cursor) => {
    sections.keyvals = list(cursor, 'keyvals', 4, () => [
      cursor.string('key'),
      cursor.string('value'),
    ]);
  });
  section('counterLabels', (cursor) => {
    sections.counterLabels = list(cursor, 'counter labels', 2, () =>
      cursor.string('counter label'),
    );
  });
  section('datatypeSizes', (cursor) => {
    sections.datatypeSizes = list(cursor, 'datatype sizes', 4, () => cursor.i32('datatype size'));
  });
  section('functionNames', (cursor) => {
    sections.functionNames = list(cursor, 'function names', 10, () => ({
      address: cursor.u64('function address'),
      name: cursor.string('function name'),
    }));
  });
  return sections;
}

/** Where the body ends at the latest: where the section after it begins, or the index. */
export function bodyLimit({ index, indexOffset }: Sections): number {
  let limit = indexOffset;
  for (const name of INDEX_ENTRIES) {
    const offset = index[name];
    if (offset > index.body && offset < limit) limit = offset;
  }
  return limit;
}

interface Index {
  fileSize: number;
  indexOffset: number;
  index: Record<SectionName, number>;
}

/**
 * Finds the index from the end of the file. Older traces lack entries at its front: its magic is
 * looked for where each of the forms has it.
 */
function readIndex(path: string): Index {
  const cursor = new FieldCursor(path, 0);
  const { fileSize } = cursor;
  try {
    if (fileSize < MAGIC_BYTES || cursor.u64('magic') !== MAGIC) {
      throw new TraceFormatError(path, 0, 'the file does not begin with the magic of DUMPI', {
        field: 'magic',
      });
    }
  } finally {
    cursor.close();
  }
  const smallest = INDEX_BYTES - 8 * OPTIONAL_INDEX_ENTRIES;
  for (let lacking = 0; lacking <= OPTIONAL_INDEX_ENTRIES; lacking++) {
    const indexOffset = fileSize - (INDEX_BYTES - 8 * lacking);
    if (indexOffset < MAGIC_BYTES) continue;
    const entries = new FieldCursor(path, indexOffset);
    try {
      if (entries.u64('magic of the index') !== MAGIC) continue;
      return { fileSize, indexOffset, index: readEntries(entries, lacking, indexOffset) };
    } finally {
      entries.close();
    }
  }
  throw new TraceFormatError(
    path,
    Math.max(0, fileSize - smallest),
    'the file does not end with an index: it is cut, or its process has died; `tracewright recover` can rebuild what a dead process left',
    { field: 'index' },
  );
}

function readEntries(
  cursor: FieldCursor,
  lacking: number,
  indexOffset: number,
): Record<SectionName, number> {
  const index: Record<SectionName, number> = {
    datatypeSizes: 0,
    functionNames: 0,
    counterLabels: 0,
    header: 0,
    body: 0,
    footer: 0,
    keyvals: 0,
  };
  for (const name of INDEX_ENTRIES.slice(lacking)) {
    const offset = cursor.u64(`offset of ${name}`);
    if (offset !== 0n && (offset < BigInt(MAGIC_BYTES) || offset >= BigInt(indexOffset))) {
      throw cursor.fault(
        `the index says that the section ${name} begins at byte ${offset.toString()}`,
        name,
        offset,
        `0, or an offset from ${MAGIC_BYTES} to ${indexOffset - 1}`,
      );
    }
    index[name] = Number(offset);
  }
  return index;
}

/** A list is held whole, and a sparse file can say to have any number: no library writes so many. */
function list<T>(cursor: FieldCursor, field: string, bytes: number, element: () => T): T[] {
  const count = cursor.count(field, bytes);
  if (count > MAX_SECTION_ELEMENTS) {
    const message = `${field} has ${count} elements`;
    throw cursor.fault(message, field, count, `at most ${MAX_SECTION_ELEMENTS}`);
  }
  const values: T[] = [];
  for (let i = 0; i < count; i++) values.push(element());
  return values;
}

function readHeader(cursor: FieldCursor): Header {
  const part = (): number => cursor.i8('version');
  const version: Version = [part(), part(), part()];
  const startTime = cursor.u64('start time');
  const hostname = cursor.string('hostname');
  const username = cursor.string('username');
  const meshCoordinates = list(cursor, 'mesh coordinates', 4, () => cursor.i32('coordinate'));
  let meshSizes: number[] = [];
  if (isAtLeast(version, MESH_SIZE_VERSION)) {
    meshSizes = list(cursor, 'mesh sizes', 4, () => cursor.i32('mesh size'));
    if (meshSizes.length !== meshCoordinates.length) {
      throw cursor.fault(
        `the mesh has ${meshCoordinates.length} coordinates, but ${meshSizes.length} sizes`,
        'mesh sizes',
        meshSizes.length,
        `${meshCoordinates.length}`,
      );
    }
  }
  return { version, startTime, hostname, username, meshCoordinates, meshSizes };
}

function readFooter(cursor: FieldCursor): Footer {
  const magic = cursor.u64('magic of the footer');
  if (magic !== FOOTER_MAGIC) {
    throw cursor.fault(
      `the footer begins with 0x${magic.toString(16)}`,
      'footer',
      magic,
      `0x${FOOTER_MAGIC.toString(16)}`,
    );
  }
  const counts = (field: string): number[] => {
    const values: number[] = [];
    for (let label = 0; label < COUNTED_LABELS; label++) values.push(cursor.u32(field));
    return values;
  };
  return { calls: counts('count of calls'), ignored: counts('count of ignored calls') };
}
