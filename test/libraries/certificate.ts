import { execFileSync } from 'node:child_process';
import { temporaryDirectory } from '../node/traced-process.js';

/** A directory with a new key and a certificate of it, for a server on this machine. */
export function certifiedDirectory(): string {
  const place = temporaryDirectory();
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const subject = ['-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const files = ['-keyout', 'key.pem', '-out', 'cert.pem'];
  execFileSync('openssl', [...kind, ...subject, ...files], { cwd: place, stdio: 'ignore' });
  return place;
}
