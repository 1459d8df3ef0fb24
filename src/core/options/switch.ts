const OFF = ['0', 'false', 'no', 'off'];
const ON = ['1', 'true', 'yes', 'on'];

/** What {@link switchOf} understands, for warnings. */
export const SWITCH_VALUES = '1, true, yes, on, 0, false, no or off';

/** Whether a text means on or off, whatever its case; undefined: neither. */
export function switchOf(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return ON.includes(word) ? true : OFF.includes(word) ? false : undefined;
}

/** What a text has between its commas, without spaces around it, and without what is empty. */
export function itemsOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Whether `OTEL_SDK_DISABLED` turns the recording of spans off, and `TRACEWRIGHT_ENABLED` does not turn it on. */
export function isSdkDisabled(): boolean {
  if (switchOf(process.env['TRACEWRIGHT_ENABLED'] ?? '') === true) return false;
  return (process.env['OTEL_SDK_DISABLED'] ?? '').trim().toLowerCase() === 'true';
}
