import type { Theme } from '../shell/address.js';

/** The colours of style.css that a canvas needs. */
export interface CanvasColours {
  page: string;
  band: string;
  line: string;
  text: string;
  quiet: string;
  accent: string;
  curve: string;
  range: string;
  lit: string;
  bad: string;
  stall: string;
  stallText: string;
  collection: string;
  collectionText: string;
}

/** @returns the colours that hold now. */
export function canvasColours(): CanvasColours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    page: of('page'),
    band: of('band'),
    line: of('line'),
    text: of('text'),
    quiet: of('quiet'),
    accent: of('accent'),
    curve: of('curve'),
    range: of('range'),
    lit: of('lit'),
    bad: of('bad'),
    stall: of('stall'),
    stallText: of('stall-text'),
    collection: of('collection'),
    collectionText: of('collection-text'),
  };
}

const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');
let shown: Theme = 'system';

/** Shows a theme; `system` follows the machine's. */
export function applyTheme(theme: Theme): void {
  shown = theme;
  const isDark = theme === 'dark' || (theme === 'system' && systemIsDark.matches);
  document.documentElement.setAttribute('data-theme', isDark ? 'dark' : 'light');
}

// Canvases listen as well, and later: they find the colours that hold then.
systemIsDark.addEventListener('change', () => {
  applyTheme(shown);
});

/** The size of the root's text for which everything is measured, in pixels. */
const USUAL = 13;

/** How much larger texts are than usual: on a very wide screen, or because the browser's are. */
export function textScale(): number {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL || 1;
}
