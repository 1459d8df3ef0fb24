/**
 * The kernel records: their tags, and their fields in the order after the timestamp. Writing, reading,
 * checking and printing kernel events are derived from this table. The specification shows an example
 * of each record and names few columns. Those of `execute`, `mapFile`, `attachSharedMemory` and the
 * file records are inferred from their examples.
 */
export const kernelEventKinds = {
  schedule: { tag: 's', fields: ['task'] },
  fork: { tag: 'F', fields: ['task', 'newTask'] },
  exit: { tag: 'T', fields: ['task'] },
  execute: { tag: 'X', fields: ['task', 'inode', 'major', 'minor', 'fileName'] },
  assignAddressSpace: { tag: 'A', fields: ['task', 'space'] },
  duplicateRange: { tag: 'D', fields: ['fromSpace', 'toSpace', 'start', 'end'] },
  mapFile: {
    tag: 'M',
    fields: ['task', 'address', 'length', 'inode', 'major', 'minor', 'fileOffset', 'fileName'],
  },
  mapAnonymous: { tag: 'm', fields: ['task', 'address', 'length'] },
  attachSharedMemory: { tag: 'S', fields: ['task', 'address', 'length', 'segment'] },
  unmap: { tag: 'U', fields: ['task', 'address', 'length'] },
  unmapAll: { tag: 'u', fields: ['space'] },
  copyOnWrite: { tag: 'C', fields: ['task', 'address'] },
  allocateBufferCache: { tag: 'B', fields: ['page'] },
  freeBufferCache: { tag: 'b', fields: ['page'] },
  freeFilesystemCache: { tag: 'p', fields: ['page'] },
  allocateFilesystemCache: { tag: 'P', fields: ['page', 'inode', 'major', 'minor', 'fileOffset'] },
  openFile: { tag: '(', fields: ['task', 'inode', 'major', 'minor', 'fileName'] },
  closeFile: { tag: ')', fields: ['task', 'inode', 'major', 'minor'] },
  readFile: { tag: '<', fields: ['task', 'inode', 'major', 'minor', 'fileOffset', 'length'] },
  writeFile: { tag: '>', fields: ['task', 'inode', 'major', 'minor', 'fileOffset', 'length'] },
  deleteFile: { tag: '-', fields: ['inode', 'major', 'minor'] },
} as const;

/**
 * The width of each field. The specification does not say which numbers have 32 and which 64 bits.
 * Numbers that the system assigns are u32. Addresses, lengths, inodes and offsets are u64, so that
 * events of a 64-bit process fit.
 */
export const kernelFields = {
  task: 'u32',
  newTask: 'u32',
  space: 'u32',
  fromSpace: 'u32',
  toSpace: 'u32',
  major: 'u32',
  minor: 'u32',
  segment: 'u32',
  address: 'u64',
  start: 'u64',
  end: 'u64',
  length: 'u64',
  page: 'u64',
  inode: 'u64',
  fileOffset: 'u64',
  fileName: 'name',
} as const;

/** The names of the record kinds. */
export type KernelEventKind = keyof typeof kernelEventKinds;
export type KernelField = keyof typeof kernelFields;
export type KernelFieldType = (typeof kernelFields)[KernelField];

/** Digits of a field, at most. */
export const FIELD_DIGITS: Readonly<Record<Exclude<KernelFieldType, 'name'>, number>> = {
  u32: 8,
  u64: 16,
};

/** Most bytes of a file name: four times what Linux accepts for a path. */
export const LONGEST_NAME = 16_384;

/** No line is longer: tag, timestamp, seven numbers, a name. */
export const LONGEST_LINE = LONGEST_NAME + 256;

/** The last record of a kernel trace, which has no timestamp. */
export const END_TAG = 'c';
export const END_LINE = `${END_TAG}\n`;

/** Whether a byte may be a tag, of the catalog or of an event that it does not have. */
export function isTag(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f;
}

/** One kind of record. */
export interface KernelEventShape {
  kind: KernelEventKind;
  tag: string;
  fields: readonly { name: KernelField; type: KernelFieldType }[];
}

/** The table as a list. */
export const kernelEventShapes: readonly KernelEventShape[] = Object.entries(kernelEventKinds).map(
  ([kind, { tag, fields }]) => ({
    kind: kind as KernelEventKind,
    tag,
    fields: fields.map((name) => ({ name, type: kernelFields[name] })),
  }),
);
