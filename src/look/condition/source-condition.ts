import type { Condition, Source } from '../index/look-index.js';

/** Whether rows of a source can meet a condition, by its service. */
export function includesSource(
  { service, hidden }: Pick<Condition, 'service' | 'hidden'>,
  source: Pick<Source, 'service' | 'path'>,
): boolean {
  if (service !== undefined && service !== source.service) return false;
  return hidden?.includes(source.service ?? source.path) !== true;
}
