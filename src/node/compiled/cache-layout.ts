/** How Node calls the code of a CommonJS module. */
export interface ModuleCode {
  (
    exports: object,
    require: (request: string) => unknown,
    module: object,
    filename: string,
    dirname: string,
  ): void;
  /** Whether V8 has refused what was saved of it. */
  readonly cachedDataRejected?: boolean;
}

/** The files that the hook loads before the program. */
export interface StartFiles {
  /** Each after those that it requires. */
  readonly paths: readonly string[];
  /** Of these very files, as they were built and as they lie there. */
  readonly identity: string;
  /** The user whose files they are. */
  readonly owner: number;
  /** Where what V8 has made of them is saved. */
  readonly saved: string;
}

/**
 * The head of a cache file: the identity, the length of each part, and the length of each source, a line each, then
 * blanks. The parts of compiled code follow, and the sources as one text.
 */
export const HEAD_BYTES = 512;

/** V8 copies data that is not aligned. */
export function alignedBytes(bytes: number): number {
  return (bytes + 7) & ~7;
}
