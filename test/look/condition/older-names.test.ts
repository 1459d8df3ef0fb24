import { describe, expect, it } from 'vitest';
import { spanCondition } from '../../../src/look/condition/span-condition.js';
import { parseWhere } from '../../../src/look/condition/where.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { startSpan } from '../../../src/spans/start-span.js';
import type { SpanRecord } from '../../../src/spans/span-record.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../../spans/span-trace.js';

const directory = temporaryDirectory();

type Attributes = Record<string, string | number | string[]>;

/** What instrumentations of either age record of the same thing. Further spans have other values. */
const RECORDED: Readonly<Record<string, Attributes>> = {
  'new request': {
    'http.request.method': 'GET',
    'http.response.status_code': 404,
    'url.scheme': 'https',
    'url.path': '/users',
    'server.address': 'shop',
    'server.port': 443,
  },
  'old request': {
    'http.method': 'GET',
    'http.status_code': 404,
    'http.scheme': 'https',
    'http.target': '/users',
    'net.peer.name': 'shop',
    'net.peer.port': 443,
  },
  'other request': { 'http.method': 'PUT', 'http.status_code': 200, 'http.target': '/carts' },
  'new query': {
    'db.system.name': 'mysql',
    'db.namespace': 'shop',
    'db.operation.name': 'SELECT',
    'db.query.text': 'SELECT ?',
  },
  'old query': {
    'db.system': 'mysql',
    'db.name': 'shop',
    'db.operation': 'SELECT',
    'db.statement': 'SELECT ?',
  },
  'other query': { 'db.system': 'redis', 'db.operation': 'GET', 'db.statement': 'GET ?' },
  'new message': { 'messaging.operation.type': 'send', 'messaging.destination.name': 'orders' },
  'old message': { 'messaging.operation': 'send', 'messaging.destination': 'orders' },
  'other message': { 'messaging.operation': 'process', 'messaging.destination': 'mails' },
  'new call': { 'gen_ai.provider.name': 'acme', 'gen_ai.usage.input_tokens': 7 },
  'old call': { 'gen_ai.system': 'acme', 'gen_ai.usage.prompt_tokens': 7 },
};

let trace: Promise<{ path: string; spans: SpanRecord[] }> | undefined;

function recordedTrace(): Promise<{ path: string; spans: SpanRecord[] }> {
  trace ??= (async () => {
    let path = '';
    const spans = await recorded(directory, (target) => {
      path = target;
      for (const [name, attributes] of Object.entries(RECORDED)) startSpan(name, attributes).end();
    });
    return { path, spans };
  })();
  return trace;
}

describe('attributes of older semantic conventions', () => {
  it.each([
    ['http.request.method=GET', 'request'],
    ['http.method=GET', 'request'],
    ['http.response.status_code=404', 'request'],
    ['http.status_code=404', 'request'],
    ['url.scheme=https', 'request'],
    ['url.path=/users', 'request'],
    ['http.target=/users', 'request'],
    ['server.address=shop', 'request'],
    ['net.peer.port=443', 'request'],
    ['db.system.name=mysql', 'query'],
    ['db.system=mysql', 'query'],
    ['db.namespace=shop', 'query'],
    ['db.operation.name=SELECT', 'query'],
    ['db.statement=SELECT ?', 'query'],
    ['messaging.operation.type=send', 'message'],
    ['messaging.operation=send', 'message'],
    ['messaging.destination.name=orders', 'message'],
    ['gen_ai.provider.name=acme', 'call'],
    ['gen_ai.usage.input_tokens=7', 'call'],
  ])('are found as those of the pinned version: %s', async (where, what) => {
    const { path, spans } = await recordedTrace();
    const condition = parseWhere([where]);
    const wanted = [`new ${what}`, `old ${what}`];

    const meets = spanCondition(condition, 0n);
    expect(spans.filter(meets).map(({ name }) => name)).toEqual(wanted);

    const index = await openLookIndex([path], { cache: false });
    const found: string[] = [];
    for await (const rows of index.find(condition)) {
      for (const row of rows) {
        const part = index.partOf(row);
        found.push(part.names.text(part.name[row - part.firstRow]!));
      }
    }
    index.close();
    expect(found).toEqual(wanted);
  });
});
