/** Mark types are numbered 0 to 99 (ovni: `ovni_mark_type`). */
export const MARK_TYPES = 100;
/** Values of one type that the emulator keeps pushed at once. */
export const MAX_DEPTH = 512;

export const UNDEFINED = 0;
export const SINGLE = 1;
export const STACK = 2;

/**
 * What a thread's mark types are and which values are pushed, by type. Arrays that never change
 * place, so that compiled emitters reach into them without looking anything up.
 */
export class MarkStacks {
  /** `UNDEFINED`, `SINGLE` or `STACK`. */
  readonly kinds = new Uint8Array(MARK_TYPES);
  readonly depths = new Int32Array(MARK_TYPES);
  /**
   * `MAX_DEPTH` values a type, bottom first, low and high half each. 400 KiB of addresses, of which
   * only what is pushed takes memory.
   */
  readonly pushed = new Int32Array(MARK_TYPES * MAX_DEPTH * 2);

  clear(): void {
    this.kinds.fill(UNDEFINED);
    this.depths.fill(0);
  }
}
