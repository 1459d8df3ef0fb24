import { LITTLE } from '../../core/byte-order.js';
import { TraceFormatError } from '../../core/errors.js';
import type { FeedingRing } from '../../core/recovery/feeding-ring.js';
import { COUNTED_LABELS } from '../calls.js';
import { DatatypeSizes } from '../datatype-sizes.js';
import type { KeptSections } from '../kept-sections.js';
import { TURN_ADDRESSES } from '../layout.js';
import type { Clock } from '../layout.js';
import type { StoredNames, Trailer } from '../trailer.js';
import { CallCursor } from './reader.js';

const CLOCKS: readonly Clock[] = ['wall', 'cpu'];

/** Facts for the sections, from the calls of a body. */
interface BodySurvey {
  /** Bytes from the start of the file to the end of the last whole call. */
  end: number;
  /** Whether the end of the stream follows. */
  isEnded: boolean;
  /** Calls, by label. */
  counts: number[];
  /** Clocks whose seconds begin again. */
  turned: Set<Clock>;
  /** Bytes of the datatypes; the index is the datatype. */
  datatypeSizes: readonly number[];
}

/**
 * Walks the calls of a rank's file.
 *
 * @param bodyEnd where they end, in bytes from the start of the file. Default: they end where the
 *   stream or the file does, and the last one may be half there.
 * @param datatypeSizes those that are known already.
 * @throws TraceFormatError when something else than calls lies there.
 */
export function surveyBody(
  file: string,
  datatypeSizes: readonly number[],
  bodyEnd?: number,
): BodySurvey {
  const sizes = new DatatypeSizes(datatypeSizes);
  const counts = new Array<number>(COUNTED_LABELS).fill(0);
  const turned = new Set<Clock>();
  const cursor = new CallCursor(file, {}, bodyEnd);
  let end = cursor.offset;
  try {
    for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
      end = cursor.offset;
      if (call.label < COUNTED_LABELS) counts[call.label]! += 1;
      sizes.learn(call.name, call.fields);
      const { fn } = call.fields as { fn?: unknown };
      for (const clock of CLOCKS) if (fn === TURN_ADDRESSES[clock]) turned.add(clock);
    }
  } catch (error) {
    const isHalf = error instanceof TraceFormatError && cursor.reachedLimit;
    if (bodyEnd !== undefined || !isHalf) throw error;
  } finally {
    cursor.close();
  }
  if (bodyEnd !== undefined && end !== bodyEnd) {
    throw new TraceFormatError(file, end, 'the calls end early');
  }
  return { end, isEnded: cursor.ended, counts, turned, datatypeSizes: sizes.list };
}

/** Calls that a rank has not stored, by label: its ring counts them. Without one, nobody has. */
function ignoredIn(ring: Pick<FeedingRing, 'content'> | undefined): number[] {
  const note = ring?.content.note(4 * COUNTED_LABELS) ?? Buffer.alloc(4 * COUNTED_LABELS);
  const view = new DataView(note.buffer, note.byteOffset, note.length);
  return Array.from({ length: COUNTED_LABELS }, (_, label) => view.getUint32(4 * label, LITTLE));
}

/**
 * Makes the sections of a rank whose process has not written them.
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
