// Makes the pictures of docs/looking.md: a recording, the page in Chromium, a file for each picture.
//
//   node scripts/screenshots.mjs

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from './package-layout.mjs';

const output = join(root, 'docs', 'looking');
mkdirSync(output, { recursive: true });
const place = mkdtempSync(join(tmpdir(), 'tracewright-screenshots-'));
const run = join(place, 'shop');
const shop = join(root, 'examples', 'busy-shop.mjs');
spawnSync(process.execPath, ['--require', join(root, 'dist', 'node', 'register.js'), shop, '40'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    OTEL_SERVICE_NAME: 'shop',
    TRACEWRIGHT_DIR: run,
    TRACEWRIGHT_PROFILE: 'cpu:100',
    TRACEWRIGHT_QUIET: '1',
  },
});
const view = join(root, 'dist', 'cli', 'main.js');
const server = spawn(process.execPath, [view, 'view', run, '--no-open'], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
const browser = await chromium.launch({
  executablePath: process.env.TRACEWRIGHT_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});

/** @param {string} name @param {string} address of a view @param {{ dark?: boolean }} look @param prepare waits for what is to be seen */
async function picture(name, address, { dark = false } = {}, prepare) {
  const colorScheme = dark ? 'dark' : 'light';
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
  await page.goto(`${base}#${address}${address.includes('?') ? '&' : '?'}${token}`);
  await prepare(page);
  await page.waitForTimeout(1000);
  await page.screenshot({ path: join(output, `${name}.png`) });
  await page.close();
}

const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
const [base, token] = line.trim().split('#');
try {
  await picture('overview', '/overview', {}, (page) =>
    page.locator('.plot canvas').first().waitFor(),
  );
  const openMatch = async (page) => page.locator('.grid-body [role=row]').first().click();
  await picture('trace', '/find?find.text=GET+/customers', { dark: true }, async (page) => {
    await openMatch(page);
    await page.locator('#view-trace').waitFor();
  });
  await picture('time-line', '/find?find.text=GET+/export', {}, async (page) => {
    await openMatch(page);
    await page.locator('#view-trace').waitFor();
    await page.getByRole('button', { name: 'Show on the time line' }).click();
    await page.waitForFunction(() => document.querySelector('#time-line')?.picture?.size > 0);
    await page.evaluate(() => (location.hash = location.hash.replace(/find\.text=[^&]*&?/, '')));
    await page.getByRole('button', { name: 'Samples' }).click();
  });
} finally {
  await browser.close();
  server.kill('SIGINT');
  rmSync(place, { recursive: true, force: true });
}
