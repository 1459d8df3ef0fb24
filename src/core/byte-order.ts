/** Whether this machine is little-endian, and so are the integers that it stores by itself. */
export const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Where the halves of a 64-bit value lie in it, in bytes. */
export const LOW_HALF = LITTLE ? 0 : 4;
export const HIGH_HALF = 4 - LOW_HALF;
