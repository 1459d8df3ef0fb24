import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine, or the one that TRACEWRIGHT_CHROMIUM names. */
const chromiumPath = [process.env['TRACEWRIGHT_CHROMIUM'] ?? '', ...PLACES].find(
  (path) => path !== '' && existsSync(path),
);

/** Why the tests of the page cannot run here; undefined: they can. */
export const noBrowser =
  chromiumPath === undefined
    ? `no Chromium in ${PLACES.join(', ')}: install it, or set TRACEWRIGHT_CHROMIUM`
    : undefined;

if (noBrowser !== undefined && process.env['TRACEWRIGHT_TEST_BROWSER'] === 'required') {
  throw new Error(noBrowser);
}

/** The title of tests, with the reason where they are skipped. */
export function titleOf(what: string): string {
  return noBrowser === undefined ? what : `${what} (${noBrowser})`;
}

/** Chromium without a window, which draws in software. */
export function launchBrowser(...flags: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath!,
    // Tests may run as root, for whom Chromium has no sandbox.
    args: ['--no-sandbox', '--disable-gpu', ...flags],
  });
}
