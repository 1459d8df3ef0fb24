import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, noBrowser, titleOf } from './browser.js';
import { planOf, recordService } from './recorded-service.js';
import { ViewedTraces } from './viewed-traces.js';

const traces = new ViewedTraces(async (directory) => [await recordService(directory, planOf(20))]);
let attacker: Server;

beforeAll(async () => {
  attacker = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<title>elsewhere</title>');
  });
  await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  attacker.close();
});

/** What a page can read of an address: the status, or that the browser has refused. */
function readable(page: Page, url: string, token: string, mode: RequestMode): Promise<string> {
  return page.evaluate(
    async ([address, secret, how]) => {
      try {
        const headers = how === 'no-cors' ? {} : { 'x-tracewright-token': secret };
        const response = await fetch(address, { headers, mode: how });
        return `${response.type} ${response.status} ${await response.text()}`;
      } catch {
        return 'refused';
      }
    },
    [url, token, mode] as const,
  );
}

describe.skipIf(noBrowser !== undefined)(titleOf('what others read of the page'), () => {
  it('a page of another origin reads nothing, even with the token', async () => {
    const { view, browser } = traces;
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(attacker.address() as AddressInfo).port}/`);
    const data = `http://127.0.0.1:${view.port}/data/recording`;
    expect(await readable(page, data, view.token, 'cors')).toBe('refused');
    expect(await readable(page, data, view.token, 'no-cors')).toBe('refused');
    const script = `http://127.0.0.1:${view.port}/page.js`;
    expect(await readable(page, script, view.token, 'no-cors')).toBe('refused');
    const isFramed = await page.evaluate(async (url) => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      frame.src = url;
      await new Promise((resolve) => {
        frame.addEventListener('load', resolve);
      });
      return frame.contentDocument !== null;
    }, view.url);
    expect(isFramed).toBe(false);
    const shown = page.frames().find((frame) => frame !== page.mainFrame());
    expect(await shown?.title()).not.toBe('Tracewright');
    await page.close();
  });

  it('a page whose name is rebound to this machine reads nothing, even with the token', async () => {
    const { view } = traces;
    const rules = '--host-resolver-rules=MAP attacker.example 127.0.0.1';
    const browser = await launchBrowser(rules);
    try {
      const page = await browser.newPage();
      const { port } = attacker.address() as AddressInfo;
      await page.goto(`http://attacker.example:${port}/`);
      expect(await page.title()).toBe('elsewhere');
      // The same name, now at the port of the view: to the browser it is its own origin.
      const reply = await page.goto(`http://attacker.example:${view.port}/`);
      expect(reply!.status()).toBe(403);
      const own = `http://attacker.example:${view.port}/data/recording`;
      expect(await readable(page, own, view.token, 'same-origin')).toMatch(
        /^basic 403 .*Host header/,
      );
    } finally {
      await browser.close();
    }
  });

  it('runs no script that the server has not sent', async () => {
    const { page, complaints } = await traces.open();
    const ran = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.inline = true';
      document.body.append(script);
      const button = document.body.appendChild(document.createElement('button'));
      button.setAttribute('onclick', 'window.inline = true');
      button.click();
      return 'inline' in window;
    });
    expect(ran).toBe(false);
    expect(complaints.join()).toContain('Content Security Policy');
  });

  it('moves the token out of the address, where no link and no other tab has it', async () => {
    const { view } = traces;
    const { page } = await traces.open({}, '/overview');
    await page.waitForTimeout(350);
    expect(page.url()).not.toContain(view.token);
    const links = page.locator('a[href]');
    expect(await links.count()).toBeGreaterThan(0);
    const addresses = await links.evaluateAll((all) =>
      all.map((link) => link.getAttribute('href')),
    );
    expect(addresses.join('\n')).not.toContain(view.token);
    expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).toBe('{}');
    await page.reload();
    await page.locator('#recordings').getByText('60 records').waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('alert').filter({ hasText: 'open the address' }).first().waitFor();
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() !== 0)(
    'another user of the machine reads nothing without the token, and finds it nowhere',
    () => {
      const { view } = traces;
      const program = `
        const address = 'http://127.0.0.1:${view.port}/data/recording';
        const { readFileSync } = process.getBuiltinModule('fs');
        const tried = (path) => { try { return readFileSync(path, 'latin1'); } catch { return ''; } };
        fetch(address).then(async (response) => {
          const found = tried('/proc/${view.pid}/cmdline') + tried('/proc/${view.pid}/environ');
          console.log(JSON.stringify([process.getuid(), response.status, await response.text(), found]));
        });`;
      const options = { uid: 65_534, gid: 65_534, cwd: '/', encoding: 'utf8' } as const;
      const [uid, status, text, found] = JSON.parse(
        execFileSync(process.execPath, ['-e', program], options),
      ) as [number, number, string, string];
      expect([uid, status, text]).toEqual([65_534, 401, expect.stringContaining('token')]);
      expect(readFileSync(`/proc/${view.pid}/cmdline`, 'latin1')).not.toContain(view.token);
      expect(found).not.toContain(view.token);
    },
  );
});
