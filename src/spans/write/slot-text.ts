import { LOOP_LIMIT } from '../../core/utf8.js';

/** `charCodeAt` as a function of the text. Unlike a property of the text, V8 need not look it up. */
// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its text
const codeAt: unknown = Function.prototype.call.bind(String.prototype.charCodeAt);

/** What the function below names besides the `bytes` of its table. */
export const SLOT_TEXT_SCOPE = { codeAt };

/**
 * Source text of a function that writes a text into a table as UTF-8, and returns its bytes: as `writeUtf8`, but into
 * one buffer, so that V8 knows its address and its length. There must be room for three bytes a character.
 */
export const WRITE_SLOT_TEXT = `function writeSlotText(at, text) {
  const { length } = '' + text;
  if (length > ${LOOP_LIMIT}) return bytes.write(text, at, 'utf8');
  for (let i = 0; i < length; i++) {
    const code = codeAt(text, i);
    if (code > 0x7f) return bytes.write(text, at, 'utf8');
    bytes[at + i] = code;
  }
  return length;
}`;
