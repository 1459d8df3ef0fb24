/** A word of 32 bits as eight hexadecimal digits. */
export function hexWord(word: number): string {
  return word.toString(16).padStart(8, '0');
}

/** The words of an id as text. */
export function hexWords(words: Uint32Array): string {
  return Array.from(words, hexWord).join('');
}
