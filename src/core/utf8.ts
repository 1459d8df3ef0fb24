// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its text
const { charCodeAt } = String.prototype;

/** Above this many characters the runtime's encoder is faster than the loop. */
export const LOOP_LIMIT = 48;

/**
 * Writes `text` as UTF-8 at `at` and returns the bytes written. There must be room for three bytes
 * a character. An unpaired surrogate becomes U+FFFD, as everywhere in Node.
 *
 * A program's texts are of many kinds to V8: a property of one is looked up anew each time, unless V8 knows that it is
 * a text.
 */
export function writeUtf8(bytes: Buffer, at: number, text: string): number {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-conversion -- so V8 knows, without a look at its kind
  const { length } = '' + text;
  if (length > LOOP_LIMIT) return bytes.write(text, at, 'utf8');
  for (let i = 0; i < length; i++) {
    const code = charCodeAt.call(text, i);
    if (code > 0x7f) return bytes.write(text, at, 'utf8');
    bytes[at + i] = code;
  }
  return length;
}
