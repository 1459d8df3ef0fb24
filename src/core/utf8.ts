/** Above this many characters the runtime's encoder is faster than the loop. */
const LOOP_LIMIT = 48;

/**
 * Writes `text` as UTF-8 at `at` and returns the bytes written. There must be room for three bytes
 * a character. An unpaired surrogate becomes U+FFFD, as everywhere in Node.
 */
export function writeUtf8(bytes: Buffer, at: number, text: string): number {
  const { length } = text;
  if (length > LOOP_LIMIT) return bytes.write(text, at, 'utf8');
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return bytes.write(text, at, 'utf8');
    bytes[at + i] = code;
  }
  return length;
}
