/** How Node calls the code of a CommonJS module. */
export type ModuleCode = (
  exports: object,
  require: (request: string) => unknown,
  module: object,
  filename: string,
  dirname: string,
) => void;

/** What V8 made of the files that the hook loads before the program, in their order. */
export interface CompiledStart {
  /** Where it is saved. */
  readonly path: string;
  /** The files that it was made of. */
  readonly identity: string;
  readonly modules: readonly ModuleCode[];
}

/** The head of a cache file: the identity and the length of each part, a line each, then blanks. */
export const HEAD_BYTES = 512;

/** V8 copies data that is not aligned. */
export function alignedBytes(bytes: number): number {
  return (bytes + 7) & ~7;
}
