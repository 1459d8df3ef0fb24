const OFF = ['0', 'false', 'no', 'off'];
const ON = ['1', 'true', 'yes', 'on'];

/** What {@link switchOf} understands, for warnings. */
export const SWITCH_VALUES = '1, true, yes, on, 0, false, no or off';

/** Whether a text means on or off, whatever its case; undefined: neither. */
export function switchOf(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return ON.includes(word) ? true : OFF.includes(word) ? false : undefined;
}
