/**
 * Colours of boxes. Paul Tol's "light" scheme: distinct with every kind of colour blindness, and light
 * enough for dark text in both themes.
 */
export const PALETTE = [
  '#77aadd',
  '#ee8866',
  '#eedd88',
  '#ffaabb',
  '#99ddff',
  '#44bb99',
  '#bbcc33',
  '#cccc77',
  '#c3a5e1',
] as const;

/** Of texts that have no colour of their own. */
export const OTHER_COLOUR = '#c8ccd0';

/** Of errors, unset and good ones. An error has a bar as well, because a colour alone says nothing. */
export const STATUS_COLOURS = ['#77aadd', '#44bb99', '#ee8866'] as const;

/** Of text in a box. */
export const INK = '#101418';

/** The same for the same text in every recording: FNV-1a. */
export function colourOfText(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return PALETTE[(hash >>> 7) % PALETTE.length]!;
}
