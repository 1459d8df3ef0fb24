import { expect, test } from 'vitest';
import { CallRecorder } from '../../../src/node/requests/call-recorder.js';
import { ServerRecorder } from '../../../src/node/requests/server-recorder.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../../spans/span-trace.js';

const directory = temporaryDirectory();
const policy = { trusts: () => true, sendsTrace: () => false, sendsBaggage: () => false };
/** From the third time on a request has a template. */
const TIMES = 4;

test.each(['http', 'https', 'coap', 'x\u001b[31m'])(
  'the scheme of HTTP/2 is one of HTTP on a server, and the own one of a call: %s',
  async (scheme) => {
    const headers = { ':method': 'GET', ':scheme': scheme, ':authority': 'host:81', ':path': '/a' };
    const target = { method: 'GET', scheme, authority: 'host:81', path: '/a', address: undefined };
    const spans = await recorded(directory, () => {
      const server = new ServerRecorder(policy, false);
      const calls = new CallRecorder(policy, false);
      for (let n = 0; n < TIMES; n++) {
        server.end(server.startStream(headers, undefined), 200, undefined, false);
        calls.start(target, undefined)!.end();
      }
    });
    const of = (kind: string, name: string): unknown[] =>
      spans.filter((span) => span.kind === kind).map(({ attributes }) => attributes[name]);
    expect(of('server', 'url.scheme')).toEqual(
      Array(TIMES).fill(scheme === 'https' ? 'https' : 'http'),
    );
    expect(of('client', 'url.full')).toEqual(Array(TIMES).fill(`${scheme}://host:81/a`));
  },
);
