/** What a ring says of a target that lacks an end which only its format can write; 0: it lacks none. */

/** The end has not begun. */
export const LACKS_END = 1;
/** All records of the ring are in the target, and its writer adds the end. It may have any length. */
export const GETS_END = 2;
