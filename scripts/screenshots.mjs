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
const trace = join(place, 'shop.heph');
const generator = join(root, 'bench', 'look-trace.mjs');
spawnSync(process.execPath, [generator, trace, '--spans', '100000'], { stdio: 'inherit' });
const view = join(root, 'dist', 'cli', 'main.js');
const server = spawn(process.execPath, [view, 'view', trace, '--no-open'], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
const browser = await chromium.launch({
  executablePath: process.env.TRACEWRIGHT_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});

/** @param {string} name @param {string} url @param {{ width?: number, height?: number, dark?: boolean }} look */
async function picture(name, url, { width = 1200, height = 640, dark = false } = {}, prepare) {
  const colorScheme = dark ? 'dark' : 'light';
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.goto(url);
  await page.waitForFunction(() => document.querySelector('#time-line')?.picture?.size > 0);
  await page.waitForTimeout(1000);
  await prepare?.(page);
  await page.screenshot({ path: join(output, `${name}.png`) });
  await page.close();
}

try {
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
  const url = line.trim();
  const near = `${url}&from=600188000000&to=600204000000`;
  await picture('whole', url, {}, async (page) => {
    await page.locator('.figures tbody tr').first().waitFor();
  });
  await picture('span', near, {}, async (page) => {
    const place = await page.evaluate(() => {
      const { picture: drawn } = document.querySelector('#time-line');
      let widest = 0;
      for (let box = 1; box < drawn.size; box++) {
        const width = drawn.right[box] - drawn.left[box];
        const best = drawn.right[widest] - drawn.left[widest];
        if (width > best && drawn.top[box] < 300) widest = box;
      }
      return { x: drawn.left[widest] + 20, y: drawn.top[widest] + 5 };
    });
    await page.locator('#time-line').click({ position: place });
    await page.getByRole('heading', { level: 2 }).waitFor();
    // Off the time line, where a tip would cover it.
    await page.mouse.move(600, 500);
  });
  await picture('trace', `${near}&find.text=status%3Derror`, { dark: true }, async (page) => {
    await page.keyboard.press('/');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Trace', exact: true }).click();
    await page.locator('.waterfall tbody tr').first().waitFor();
  });
  await picture('latency', `${url}&panel=latency&find.text=kind%3Dserver`, {}, async (page) => {
    await page.getByText('Drag over a part').waitFor();
  });
} finally {
  await browser.close();
  server.kill('SIGINT');
  rmSync(place, { recursive: true, force: true });
}
