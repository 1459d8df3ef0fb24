// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its text
const { charCodeAt } = String.prototype;

/** Above this many characters the runtime's encoder is faster than the loop. */
const LOOP_LIMIT = 48;

/**
 * Writes `text` as UTF-8 at `at` and returns the bytes written. There must be room for three bytes
 * a character. An unpaired surrogate becomes U+FFFD, as everywhere in Node.
 *
 * A program's texts are of many kinds to V8: a property of one is looked up anew each time, unless V8 knows that it is
 * a text.
 */
export function writeUtf8(bytes: Buffer, at: number, text: string): number {
  const length = textLength(text);
  if (length > LOOP_LIMIT) return bytes.write(text, at, 'utf8');
  for (let i = 0; i < length; i++) {
    const code = charCodeAt.call(text, i);
    if (code > 0x7f) return bytes.write(text, at, 'utf8');
    bytes[at + i] = code;
  }
  return length;
}

/** The length of a text. By the addition V8 knows that it is one, without a look at its kind. */
export function textLength(text: string): number {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-conversion
  return ('' + text).length;
}

/** `charCodeAt` as a function of the text. Unlike a property of the text, V8 need not look it up. */
export const codeAt = Function.prototype.call.bind(charCodeAt) as (
  text: string,
  at: number,
) => number;

/** Most characters of a text whose bytes are known, and one more. */
const MOST_KNOWN = 257;
const knownBytes = new Uint8Array(MOST_KNOWN);

/** The text that was read last, if it is ASCII: to copy its bytes costs less than to read its characters again. */
export const known = { text: '', bytes: knownBytes };

/** Values that the function below names, apart from `view` and `bytes` of its table. */
export const SLOT_TEXT_SCOPE = { codeAt, known, knownView: new DataView(knownBytes.buffer) };

/**
 * Source text of a function that writes a text into a table as UTF-8, and returns its bytes: as `writeUtf8`, but into
 * one buffer, so that V8 knows its address and its length. There must be room for three bytes a character.
 */
export const WRITE_SLOT_TEXT = `function writeSlotText(at, text) {
  const { length } = '' + text;
  if (length > ${LOOP_LIMIT}) return bytes.write(text, at, 'utf8');
  let i = 0;
  if (text === known.text) {
    for (; i + 4 <= length; i += 4) view.setInt32(at + i, knownView.getInt32(i));
    for (; i < length; i++) bytes[at + i] = known.bytes[i];
    return length;
  }
  for (; i + 4 <= length; i += 4) {
    const a = codeAt(text, i);
    const b = codeAt(text, i + 1);
    const c = codeAt(text, i + 2);
    const d = codeAt(text, i + 3);
    if ((a | b | c | d) > 0x7f) return bytes.write(text, at, 'utf8');
    view.setInt32(at + i, (a << 24) | (b << 16) | (c << 8) | d);
  }
  for (; i < length; i++) {
    const code = codeAt(text, i);
    if (code > 0x7f) return bytes.write(text, at, 'utf8');
    bytes[at + i] = code;
  }
  return length;
}`;
