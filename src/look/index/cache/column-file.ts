import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { openRegularFile } from '../../../core/files/regular-file.js';
import { newMemory } from '../../../core/large-memory.js';
import { writeAll } from '../../../core/files/write-all.js';
import { parseOwnJson } from '../../../core/json.js';
import { aligned, typeOf, TYPES } from '../../wire/columns.js';
import type { Column, TypeName } from '../../wire/columns.js';

/**
 * A file of columns. 32 bytes: the magic, the version, the bytes of the header and its CRC-32, all
 * little-endian; then the header, JSON; then the columns, each at a multiple of 8 bytes.
 */
const MAGIC = Buffer.from('TWINDEX\n');
/** Of everything that the index stores. A file of another version is made anew. */
const INDEX_VERSION = 13;
const HEAD_BYTES = 32;
const MAX_HEADER_BYTES = 256 << 20;
const READ_BYTES = 1 << 30;
/** Columns are stored as the machine has them. */
const IS_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

interface ColumnEntry {
  type: TypeName;
  length: number;
  offset: number;
  crc: number;
}

interface Header {
  facts: unknown;
  columns: Record<string, ColumnEntry>;
}

/** A stored file is damaged, of another version or of another machine. The caller makes it anew. */
export class DamagedIndex extends Error {}

function bytesOf(column: Column): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

/** Writes a file of columns; `facts` are JSON. */
export function writeColumns(path: string, facts: unknown, columns: Record<string, Column>): void {
  const written: Record<string, ColumnEntry> = {};
  let offset = 0;
  for (const [name, column] of Object.entries(columns)) {
    const crc = crc32(bytesOf(column));
    written[name] = { type: typeOf(column), length: column.length, offset, crc };
    offset += aligned(column.byteLength);
  }
  const text = Buffer.from(JSON.stringify({ facts, columns: written } satisfies Header));
  const header = Buffer.alloc(aligned(text.length), ' ');
  text.copy(header);
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(INDEX_VERSION, 8);
  head.writeUInt32LE(header.length, 12);
  head.writeUInt32LE(crc32(header), 16);
  head.writeUInt32LE(IS_LITTLE_ENDIAN ? 1 : 0, 20);
  const fd = openSync(path, 'wx', 0o600);
  try {
    let end = writeAll(fd, Buffer.concat([head, header]), 0);
    for (const column of Object.values(columns)) end = writeAll(fd, bytesOf(column), aligned(end));
    // An empty column at the end lies within the file, too.
    ftruncateSync(fd, aligned(end));
  } finally {
    closeSync(fd);
  }
}

/** Files that stay open at most. Others are opened for each column. */
const MOST_OPEN = 512;
let openFiles = 0;
const forgotten = new FinalizationRegistry<number>(closeOpen);

function closeOpen(fd: number): void {
  openFiles -= 1;
  closeSync(fd);
}

/**
 * A file of columns that is read column by column. Nothing in it is believed. It stays open: another process
 * may delete it, or put another one there.
 */
export class ColumnFile {
  readonly facts: unknown;
  readonly #path: string;
  readonly #columns: Record<string, ColumnEntry>;
  readonly #base: number;
  #fd = -1;

  /** @throws DamagedIndex if this is no such file of this version, machine and user. */
  constructor(path: string) {
    this.#path = path;
    const fd = openOwn(path);
    try {
      const { size } = fstatSync(fd);
      const head = readAt(fd, 0, HEAD_BYTES);
      const headerBytes = head.readUInt32LE(12);
      if (
        MAGIC.compare(head, 0, MAGIC.length) !== 0 ||
        head.readUInt32LE(8) !== INDEX_VERSION ||
        head.readUInt32LE(20) !== (IS_LITTLE_ENDIAN ? 1 : 0) ||
        headerBytes > MAX_HEADER_BYTES ||
        headerBytes > size - HEAD_BYTES
      ) {
        throw new DamagedIndex(path);
      }
      const header = readAt(fd, HEAD_BYTES, headerBytes);
      if (crc32(header) !== head.readUInt32LE(16)) throw new DamagedIndex(path);
      const { facts, columns } = parsed(header, path);
      this.facts = facts;
      this.#columns = columns;
      this.#base = HEAD_BYTES + headerBytes;
      for (const entry of Object.values(columns)) {
        if (!isEntry(entry, size - this.#base)) throw new DamagedIndex(path);
      }
      this.#keep(fd);
    } finally {
      if (this.#fd === -1) closeSync(fd);
    }
  }

  /** Closes the file. It is opened again when a column is read. */
  close(): void {
    if (this.#fd === -1) return;
    forgotten.unregister(this);
    closeOpen(this.#fd);
    this.#fd = -1;
  }

  /** Elements of a column; -1: there is none of this type. */
  lengthOf(name: string, type: TypeName): number {
    const entry = Object.hasOwn(this.#columns, name) ? this.#columns[name] : undefined;
    return entry?.type === type ? entry.length : -1;
  }

  bytesOf(name: string): number {
    const { type, length } = this.#columns[name]!;
    return length * TYPES[type].BYTES_PER_ELEMENT;
  }

  /**
   * Reads a column.
   *
   * @param memory of at least its bytes, at a multiple of 8.
   * @throws DamagedIndex if its checksum is wrong.
   */
  column(name: string, memory = newMemory(this.bytesOf(name))): Column {
    const { type, length, crc } = this.#columns[name]!;
    const column = new TYPES[type](memory.buffer, memory.byteOffset, length);
    this.#read(name, column);
    if (crc32(bytesOf(column)) !== crc) throw new DamagedIndex(this.#path);
    return column;
  }

  /** Reads a column into memory, unchecked: of a file that this process has just written. */
  copyColumn(name: string, to: Column): void {
    this.#read(name, to);
  }

  #read(name: string, column: Column): void {
    const { offset } = this.#columns[name]!;
    const fd = this.#fd === -1 ? openOwn(this.#path) : this.#fd;
    try {
      fill(fd, bytesOf(column), this.#base + offset, this.#path);
    } finally {
      if (fd !== this.#fd) closeSync(fd);
    }
  }

  #keep(fd: number): void {
    if (openFiles >= MOST_OPEN) return;
    openFiles += 1;
    forgotten.register(this, fd, this);
    this.#fd = fd;
  }
}

/** Opens a file that this user has written. */
function openOwn(path: string): number {
  const fd = openedRegular(path);
  const { uid, mode } = fstatSync(fd);
  const isOwn = process.getuid === undefined || uid === process.getuid();
  if (isOwn && (process.platform === 'win32' || (mode & 0o022) === 0)) return fd;
  closeSync(fd);
  throw new DamagedIndex(path);
}

function openedRegular(path: string): number {
  try {
    return openRegularFile(path, 'refused').fd;
  } catch {
    throw new DamagedIndex(path);
  }
}

function parsed(header: Buffer, path: string): Header {
  let value: unknown;
  try {
    value = parseOwnJson(header.toString('utf8'));
  } catch {
    // As any other header that is none.
  }
  if (isObject(value)) {
    const { facts, columns } = value as Partial<Header>;
    if (isObject(facts) && isObject(columns)) return { facts, columns };
  }
  throw new DamagedIndex(path);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a header says where a column lies, within so many bytes. */
function isEntry(entry: unknown, size: number): boolean {
  if (!isObject(entry)) return false;
  const { type, length, offset } = entry as Partial<Record<keyof ColumnEntry, unknown>>;
  if (typeof type !== 'string' || !Object.hasOwn(TYPES, type)) return false;
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) return false;
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) return false;
  const bytes = length * TYPES[type as TypeName].BYTES_PER_ELEMENT;
  return offset === aligned(offset) && offset + bytes <= size;
}

function readAt(fd: number, offset: number, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  fill(fd, bytes, offset, '');
  return bytes;
}

function fill(fd: number, bytes: Uint8Array, offset: number, path: string): void {
  for (let at = 0; at < bytes.length;) {
    const count = readSync(fd, bytes, at, Math.min(READ_BYTES, bytes.length - at), offset + at);
    if (count === 0) throw new DamagedIndex(path);
    at += count;
  }
}
