/**
 * Offsets in the stamp area of a rank's ring: `IntervalArea` of native/ring/interval_stamp.h. Times are
 * nanoseconds since a clock's bias.
 */

/** When the call began that is recorded next; negative: when it ends. */
export const WALL_START = 0;
export const CPU_START = 1;
/** When the turn of the 16-bit seconds began in which the last record lies; 0: the first turn. */
export const WALL_TURN = 2;
export const CPU_TURN = 3;
/** The CPU clock when `readStamp` was called. */
export const CPU_NOW = 4;
/** Not 0 after a commit that wrote a preface: 1, or 2 when the record found no room after it. */
export const PREFACE = 5;
export const PREFACE_WITHOUT_ROOM = 2;
/** By how many seconds such a commit moved the record's start. */
export const MOVED_START = 6;
