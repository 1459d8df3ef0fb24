import type { Pyramid } from './pyramid.js';

/** What a part looks like: the lanes of its rows, and its pyramid unless it is small. */
export interface PartShape {
  readonly lanes: Uint16Array;
  readonly pyramid: Pyramid | undefined;
  /** Closes the file in which it lies. */
  close?(): void;
}
