import { LITTLE } from '../../core/byte-order.js';
import type { FeedingRing } from '../../core/recovery/feeding-ring.js';
import { COUNTED_LABELS } from '../calls.js';
import type { KeptSections } from '../kept-sections.js';
import type { StoredNames, Trailer } from '../trailer.js';
import type { BodySurvey } from './body-survey.js';

/** Calls that a rank has not stored, by label: its ring counts them. Without one, nobody has. */
function ignoredIn(ring: Pick<FeedingRing, 'content'> | undefined): number[] {
  const note = ring?.content.note(4 * COUNTED_LABELS) ?? Buffer.alloc(4 * COUNTED_LABELS);
  const view = new DataView(note.buffer, note.byteOffset, note.length);
  return Array.from({ length: COUNTED_LABELS }, (_, label) => view.getUint32(4 * label, LITTLE));
}

/**
 * What follows the calls of a rank whose process has not written it.
 *
 * @param ring undefined: it is lost.
 */
export function trailerOf(
  kept: KeptSections,
  { datatypeSizes, counts, turned }: BodySurvey,
  ring: Pick<FeedingRing, 'content'> | undefined,
  names: StoredNames,
): Trailer {
  return {
    kept: { ...kept, datatypeSizes },
    stored: counts,
    ignored: ignoredIn(ring),
    names,
    turned,
  };
}
