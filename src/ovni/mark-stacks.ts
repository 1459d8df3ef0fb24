/** Mark types are numbered 0 to 99 (ovni: `ovni_mark_type`). */
export const MARK_TYPES = 100;
/** Values of one type that the emulator keeps pushed at once. */
export const MAX_DEPTH = 512;

const UNDEFINED = 0;
export const SINGLE = 1;
export const STACK = 2;

/**
 * A thread's mark types, and the values that are pushed on them. The arrays are never replaced, so they
 * are constants of compiled emitters.
 */
export class MarkStacks {
  /** `UNDEFINED`, `SINGLE` or `STACK`. */
  readonly kinds = new Uint8Array(MARK_TYPES);
  readonly depths = new Int32Array(MARK_TYPES);
  /**
   * `MAX_DEPTH` values a type, bottom first, low and high half each. Of its 400 KiB only pages with
   * pushed values take memory.
   */
  readonly pushed = new Int32Array(MARK_TYPES * MAX_DEPTH * 2);

  clear(): void {
    this.kinds.fill(UNDEFINED);
    this.depths.fill(0);
  }
}
