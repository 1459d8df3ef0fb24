import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planOf, recordService } from './recorded-service.js';
import { startView } from './view-command.js';
import type { ViewCommand } from './view-command.js';

const directory = mkdtempSync(join(tmpdir(), 'tracewright-page-'));
let view: ViewCommand;

beforeAll(async () => {
  view = await startView([await recordService(directory, planOf(20))]);
});

afterAll(async () => {
  await view.end();
  rmSync(directory, { recursive: true });
});

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** A client that sends what it wants, unlike a browser. */
function ask(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
  body = '',
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: view.port, path, method, headers };
    const asked = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, text });
      });
    });
    asked.on('error', reject).end(body);
  });
}

const own = (): Record<string, string> => ({ 'x-tracewright-token': view.token });

/** What a request for boxes has, next to its window and tracks. */
const BOXES = 'budget=1&screen=1&lanes=1&names=0';

describe('the server of the page', () => {
  it('answers its own page', async () => {
    const origin = `http://127.0.0.1:${view.port}`;
    const { status, text } = await ask('/data/recording', { ...own(), origin });
    expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ rows: 60 })]);
  });

  it.each(['localhost', '127.0.0.1', '[::1]', 'localhost:8080', '[::1]:1'])(
    'answers as %s, which a tunnel may bring',
    async (host) => {
      const { status } = await ask('/data/recording', { ...own(), host });
      expect(status).toBe(200);
    },
  );

  it.each([
    'attacker.example',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    'attacker.example:80',
    'localhost@attacker.example',
    '127.0.0.2',
    ' ',
  ])('refuses the rebinding name %j, also for the page itself', async (host) => {
    for (const path of ['/', '/page.js', '/data/recording']) {
      const { status, text } = await ask(path, { ...own(), host });
      expect([status, text]).toEqual([403, expect.stringContaining('Host header must be')]);
    }
  });

  it.each([
    'http://attacker.example',
    'https://127.0.0.1:PORT',
    'http://127.0.0.1:1',
    'http://localhost:PORT',
    'null',
    'file://',
  ])('refuses the Origin %s', async (text) => {
    const origin = text.replace('PORT', String(view.port));
    const { status } = await ask('/data/recording', { ...own(), origin });
    expect(status).toBe(403);
  });

  it('gives nothing without the token', async () => {
    const wrong = [view.token.slice(1), `${view.token}x`, view.token.toUpperCase(), ''];
    for (const token of wrong) {
      const { status, text } = await ask('/data/recording', { 'x-tracewright-token': token });
      expect([status, text]).toEqual([401, expect.stringContaining('token is missing or wrong')]);
    }
    expect((await ask('/data/recording', {})).status).toBe(401);
    expect((await ask(`/data/recording?token=${view.token}`, {})).status).toBe(401);
    expect((await ask('/data/recording', { cookie: `token=${view.token}` })).status).toBe(401);
  });

  it('has a page that shows no data, and no script but its own', async () => {
    const { status, headers, text } = await ask('/', {});
    expect(status).toBe(200);
    expect(text).not.toContain(directory);
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|https?:/);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|data:|\*/);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers['set-cookie']).toBeUndefined();
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('reads no file that a request names', async () => {
    const paths = [
      '/../package.json',
      '/%2e%2e/package.json',
      '/..%2fpackage.json',
      '/etc/passwd',
      '/index.html/../../package.json',
      '/data/../../package.json',
      `/data/file?path=${directory}`,
    ];
    for (const path of paths) expect((await ask(path, own())).status).toBe(404);
    expect((await ask('//etc/passwd', own())).status).toBe(400);
  });

  it.each([
    ['POST', '/data/recording', 405],
    ['DELETE', '/data/recording', 405],
    ['PUT', '/', 404],
    ['OPTIONS', '/data/recording', 405],
    ['GET', '/data/nothing', 404],
    ['GET', '/data/constructor', 404],
    ['GET', '/data/row', 400],
    ['GET', '/data/row?row=60', 400],
    ['GET', '/data/row?row=-1', 400],
    ['GET', '/data/row?row=1.5', 400],
    ['GET', '/data/row?row=0&key=x', 400],
    ['GET', '/data/row?row=0&key=5_t0', 404],
    ['GET', '/data/trace?row=0&key=5_00000000000000ff', 404],
    ['GET', `/data/boxes?from=1&to=1&width=10&tracks=0&${BOXES}`, 400],
    ['GET', `/data/boxes?from=0&to=1e9&width=1e9&tracks=0&${BOXES}`, 400],
    ['GET', `/data/boxes?from=0&to=1e9&width=10&tracks=0-999999999&${BOXES}`, 400],
    ['GET', `/data/boxes?from=NaN&to=Infinity&width=10&tracks=0&${BOXES}`, 400],
  ])('%s %s is refused with %d and words', async (method, path, status) => {
    const reply = await ask(path, own(), method);
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      status,
      { error: expect.stringMatching(/\w+ \w+/) as string },
    ]);
  });

  it('listens on this machine only, and ends with Ctrl+C', async () => {
    const other = await startView([directory]);
    expect(other.token).not.toBe(view.token);
    expect(await other.end()).toBe(0);
  });
});
