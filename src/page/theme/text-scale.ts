/** The size of the root's text for which everything is measured, in pixels. */
const USUAL = 13;

/** How much larger texts are than usual: on a very wide screen, or because the browser's are. */
export function textScale(): number {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL || 1;
}
