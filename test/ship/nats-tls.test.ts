import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { endAll, killedTrace, ShipProcess } from './shipped.js';

const SERVER = '/usr/sbin/nats-server';
const directory = temporaryDirectory();
const pem = join(directory, 'server.pem');
const key = join(directory, 'server.key');
const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
const files = ['-keyout', key, '-out', pem];
const { status } = spawnSync(
  'openssl',
  ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files],
  { stdio: 'ignore' },
);
const absent = [
  ...(existsSync(SERVER) ? [] : [`${SERVER} is not installed`]),
  ...(status === 0 ? [] : ['openssl makes no certificate']),
].join(', ');

afterEach(endAll);

it('ship to NATS over TLS trusts the certificates that are named, and no other', async (context) => {
  if (absent !== '') context.skip(absent);
  const run = mkdtempSync(join(directory, 'run-'));
  const own = ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', run, '--ports_file_dir', run];
  const tls = ['--tls', '--tlscert', pem, '--tlskey', key];
  const server = spawn(SERVER, [...own, ...tls], { stdio: 'ignore' });
  try {
    const port = await vi.waitFor(
      () => {
        const name = readdirSync(run).find((each) => each.endsWith('.ports'))!;
        const { nats } = JSON.parse(readFileSync(join(run, name), 'utf8')) as {
          nats: string[];
        };
        return new URL(nats[0]!).port;
      },
      { timeout: 30_000 },
    );
    const traces = join(run, 'traces');
    mkdirSync(traces);
    killedTrace(join(traces, 'killed.heph'), 5);
    const args = [traces, '--to', `tls://127.0.0.1:${port}`, '--create-stream', '1h'];
    const wary = new ShipProcess([...args, '--checkpoint', join(run, 'wary')]);
    await vi.waitFor(
      () => {
        expect(wary.output).toMatch(/stopped, asked once a minute: self.signed certificate/);
      },
      { timeout: 60_000 },
    );
    await wary.end('SIGKILL');
    const checkpoint = ['--checkpoint', join(run, 'trusting')];
    const trusting = new ShipProcess([...args, ...checkpoint, '--once'], {
      NODE_EXTRA_CA_CERTS: pem,
    });
    expect(await trusting.end(), trusting.output).toBe(0);
    expect(trusting.output).toContain('11 spans sent to tls://127.0.0.1');
  } finally {
    const exit = once(server, 'exit');
    server.kill();
    await exit;
  }
});
