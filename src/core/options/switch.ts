const OFF = ['0', 'false', 'no', 'off'];
const ON = ['1', 'true', 'yes', 'on'];

/** Whether a text means on or off, whatever its case; undefined: neither. */
export function switchOf(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return ON.includes(word) ? true : OFF.includes(word) ? false : undefined;
}

/** Whether `OTEL_SDK_DISABLED` turns the recording of spans off, and `TRACEWRIGHT_ENABLED` does not turn it on. */
export function isSdkDisabled(): boolean {
  if (switchOf(process.env['TRACEWRIGHT_ENABLED'] ?? '') === true) return false;
  return (process.env['OTEL_SDK_DISABLED'] ?? '').trim().toLowerCase() === 'true';
}
