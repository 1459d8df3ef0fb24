import type { IndexPart, LookIndex } from '../../index/look-index.js';

/**
 * Parts whose rows are listed. States and marks of threads would hide the spans: they are
 * only where there is nothing else, or `states` asks for them.
 */
export function listedParts({ parts }: LookIndex, states: boolean): readonly IndexPart[] {
  if (states) return parts;
  const others = parts.filter(({ source }) => source.content !== 'states of threads');
  return others.length === 0 ? parts : others;
}
