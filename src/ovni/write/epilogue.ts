import { HEADER_BYTES, headerOf } from '../layout.js';
import type { ThreadState } from '../thread-state.js';

function bareEvent(mcv: string): Uint8Array {
  const event = new Uint8Array(HEADER_BYTES);
  new DataView(event.buffer).setUint32(0, headerOf(0, mcv), true);
  return event;
}

/**
 * Events that end a thread, for a thread that is terminated before it can write them. A ring counts
 * them from 1.
 */
export const EPILOGUES = [['OHe'], ['OHr', 'OHe'], ['OHp', 'OHr', 'OHe']].map((mcvs) =>
  mcvs.map(bareEvent),
);
const END_NOW = 1;
const RESUME_AND_END = 2;
const PAUSE_RESUME_AND_END = 3;

/** The epilogue that ends a thread in this state; 0 if it needs none. */
export function epilogueOf(state: ThreadState, version: 1 | 3): number {
  switch (state) {
    case 'running':
      return END_NOW;
    case 'cooling':
      // The reader of version 1 refuses an end from here.
      return version === 3 ? END_NOW : PAUSE_RESUME_AND_END;
    case 'paused':
    case 'warming':
      return RESUME_AND_END;
    default:
      return 0;
  }
}
