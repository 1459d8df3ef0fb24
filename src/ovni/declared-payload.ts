/**
 * How the emulator treats an event whose payload does not have the declared size: it refuses some
 * events, and of others reads the bytes that it needs.
 */

/** Events whose payload must have exactly the declared size. */
const EXACT = new Set(['OAs', 'OAr', 'OM[', 'OM]', 'OM=', '6Tc', 'PPc']);
/** Declared arguments that the emulator does not read. */
const UNREAD = new Set(['OHC', 'OCn']);

/** The arguments of an event, as declared or as in a stream. */
export interface Shape {
  readonly jumbo: boolean;
  /** Bytes of all arguments; of a declared `str` its NUL only. */
  readonly bytes: number;
}

/** `extra`: read as if it were as declared. */
type PayloadVerdict = 'declared' | 'extra' | 'refused';

/**
 * Judges the payload of a declared event.
 *
 * @param version of the trace. The emulator of version 1 reads what it needs and does not know marks.
 */
export function judgePayload(
  mcv: string,
  declared: Shape,
  found: Shape,
  version: 1 | 3,
): PayloadVerdict {
  if (declared.bytes === 0) {
    return (found.bytes === 0 && !found.jumbo) || mcv.startsWith('OB') ? 'declared' : 'extra';
  }
  if (declared.jumbo === found.jumbo) {
    if (found.bytes === declared.bytes) return 'declared';
    if (found.jumbo && found.bytes > declared.bytes) return 'declared';
  }
  if (UNREAD.has(mcv)) return 'extra';
  if (declared.jumbo !== found.jumbo) return 'refused';
  // Of OHx only the CPU is read.
  const least = mcv === 'OHx' ? 4 : declared.bytes;
  if (found.bytes >= least && (version === 1 || !EXACT.has(mcv))) return 'extra';
  return version === 1 && mcv.startsWith('OM') ? 'extra' : 'refused';
}
