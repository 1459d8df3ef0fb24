import { expect, test } from 'vitest';
import { CallRecorder } from '../../../src/node/requests/call-recorder.js';
import { ServerRecorder } from '../../../src/node/requests/server-recorder.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../../spans/span-trace.js';

const directory = temporaryDirectory();
const policy = { trusts: () => true, sendsTrace: () => false, sendsBaggage: () => false };
/** From the third time on a request has a template. */
const TIMES = 4;

test.each(['http', 'https', 'coap'])(
  'the scheme of HTTP/2 is recorded as it is, however often it comes: %s',
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
    expect(of('server', 'url.scheme')).toEqual(Array(TIMES).fill(scheme));
    expect(of('client', 'url.full')).toEqual(Array(TIMES).fill(`${scheme}://host:81/a`));
  },
);
