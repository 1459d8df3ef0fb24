import { core } from '../addon.js';
import type { NativeColumn, NativeCore } from '../native-core.js';

/** Values of one field of many records. */
export type Column = NativeColumn;

/** Records of a fixed size, by the thousand: native loops over whole arrays. */
export const {
  packRecords,
  copyRecords,
  firstOutside,
  firstInexact,
}: Pick<NativeCore, 'packRecords' | 'copyRecords' | 'firstOutside' | 'firstInexact'> = core;
