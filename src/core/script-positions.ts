import type { SourceMap, SourceMapping } from 'node:module';

/** Mappings of a line that are compared. */
const MOST_OF_LINE = 256;

/** Where a position of a script is in its source. Lines and columns are from 1. */
export interface SourcePosition {
  /** As the map has it. */
  readonly source: unknown;
  readonly line: number;
  readonly column: number;
  /** Column of the script where what is mapped begins. */
  readonly from: number;
  readonly name: unknown;
}

/** What Node finds in a map; nothing of it where it finds none. */
type Entry = Partial<SourceMapping> & { readonly name?: unknown };

/** @returns undefined: no source has it. */
export function positionIn(
  map: SourceMap,
  line: number,
  column: number,
): SourcePosition | undefined {
  const { name, ...entry }: Entry = map.findEntry(line - 1, column - 1);
  const { generatedLine, generatedColumn = 0, originalLine = -1, originalColumn = -1 } = entry;
  if (generatedLine !== line - 1 || originalLine < 0 || originalColumn < 0) return undefined;
  return {
    source: entry.originalSource,
    line: originalLine + 1,
    column: originalColumn + 1,
    from: generatedColumn + 1,
    name,
  };
}

/** The line of a source that a whole line of the script is of; undefined: of none, or of several. */
export function lineIn(map: SourceMap, line: number): SourcePosition | undefined {
  let found: SourcePosition | undefined;
  let column = Number.MAX_SAFE_INTEGER;
  for (let i = 0; i < MOST_OF_LINE && column > 0; i++) {
    const position = positionIn(map, line, column);
    if (position === undefined) return found;
    found ??= position;
    if (position.source !== found.source || position.line !== found.line) return undefined;
    column = position.from - 1;
  }
  return column > 0 ? undefined : found;
}
