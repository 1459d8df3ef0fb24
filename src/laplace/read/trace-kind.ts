import { resolve } from 'node:path';
import { headOfFile } from '../../core/files/regular-file.js';
import { ringFormatAt } from '../../core/recovery/ring-file.js';
import { kindOfName, kindOfRingFormat, ringOf } from '../file-names.js';
import type { TraceKind } from '../file-names.js';

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
export function kindOfTrace(path: string): TraceKind | undefined {
  const known = kindOfName(path) ?? kindOfRingFormat(ringFormatAt(ringOf(resolve(path)), path));
  if (known !== undefined) return known;
  const head = headOfFile(path, HEAD_BYTES).toString('latin1');
  if (REFERENCE_LINE.test(head)) return 'text';
  return KERNEL_LINE.test(head) ? 'kernel' : undefined;
}
