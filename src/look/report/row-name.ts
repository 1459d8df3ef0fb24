import type { LookIndex } from '../index/look-index.js';
import { callTarget, isCall } from './call-target.js';
import { nameWithPath, nameWithTarget } from './request-name.js';
import { requestPath } from './request-path.js';

/** What a single row is called: a request with its path, and a call with its target, if its name lacks that. */
export function rowName(index: LookIndex, row: number): string {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  const name = part.names.text(part.name[at]!);
  const system = part.names.system(part.name[at]!) ?? null;
  return isCall(part, at)
    ? nameWithTarget({ name, system, target: callTarget(index, row) })
    : nameWithPath({ name, path: requestPath(index, row) });
}
