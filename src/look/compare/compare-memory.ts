import { memoryCurves } from '../report/threads/memory.js';
import { haveCommonService } from './compare-groups.js';
import type { RowsOfSide } from './compare-groups.js';
import type { ComparedMemory } from './comparison-shape.js';

const EVER = { from: 0, to: Infinity };

/** Of each service and kind, the thread or process of either side whose memory was the highest. */
export function compareMemory(before: RowsOfSide, after: RowsOfSide): ComparedMemory[] {
  const withService = haveCommonService(before, after);
  const compared = new Map<string, ComparedMemory>();
  for (const [side, { index, sources, window = EVER }] of [
    ['after', after],
    ['before', before],
  ] as const) {
    const curves = (wanted: string) =>
      index.counters.filter(({ name, source }) => name === wanted && sources.has(source));
    for (const curve of memoryCurves({ index, window, curves })) {
      const { kind } = curve;
      if (kind === 'external') continue;
      const service = withService ? curve.service : null;
      const key = `${kind}\n${service}`;
      const known = compared.get(key) ?? { kind, service, before: null, after: null };
      compared.set(key, known);
      if (curve.max >= (known[side]?.max ?? 0)) known[side] = curve;
    }
  }
  return [...compared.values()];
}
