/** Says in a ring that its target lacks an end which only its format can write; 0: it lacks none. */

/** The end has not begun. */
export const LACKS_END = 1;
/** All records of the ring are in the target, and its writer adds the end. It may have any length. */
export const GETS_END = 2;
