import { describe, expect, it } from 'vitest';
import type { EventPacket } from '../../src/heph/packet.js';
import { readPackets } from '../../src/heph/read/reader.js';
import { hephFiles } from '../node/written-traces.js';
import { certifiedDirectory } from './certificate.js';
import { below, lineOf, runScript, treeOf } from './traced-library.js';

const env = { TRACEWRIGHT_LIBRARIES: 'auto,net' };
/** Node 20 announces only sockets that `net.connect` makes. */
const announcesAll = Number.parseInt(process.versions.node) >= 22;

describe('net', () => {
  it('has connections and their look-ups, each below what has opened it', async () => {
    const { spans } = await runScript('connections', env, [certifiedDirectory()]);
    const tree = (of: string): string[] =>
      treeOf(
        spans,
        spans.find(({ name }) => name === of)!,
      );
    // Five contexts look the same name up at once.
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const requested = below(spans, name);
      const connection = requested.find((span) => span.name === 'connect')!;
      expect(treeOf(spans, connection)).toEqual(['dns lookup']);
      expect(requested.map(lineOf).sort()).toEqual(['GET', 'connect']);
      expect(connection.attributes).toEqual({
        'server.address': 'localhost',
        'network.transport': 'tcp',
        'network.peer.address': expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/) as string,
        'network.peer.port': expect.any(Number) as number,
      });
      const [lookup] = below([connection, ...spans], 'connect');
      expect(lookup!.attributes).toEqual({ 'dns.question.name': 'localhost' });
      expect(lookup!.start).toBe(connection.start);
      expect(lookup!.end).toBeLessThanOrEqual(connection.end);
      expect(connection.kind).toBe('internal');
      expect(connection.scope).toMatchObject({ name: 'tracewright/net' });
    }
    expect(tree('unix')).toEqual(['connect']);
    expect(below(spans, 'unix')[0]!.attributes).toEqual({ 'network.transport': 'unix' });
    expect(tree('refused')).toEqual(['connect: ECONNREFUSED']);
    expect(tree('unknown')).toEqual(['connect: ENOTFOUND', '  dns lookup: ENOTFOUND']);
    expect(tree('given up')).toEqual(['connect: closed']);
    expect(tree('tls')).toEqual(announcesAll ? ['connect', '  tls handshake'] : []);
  });

  it('is recorded on request only', async () => {
    const { spans } = await runScript('connections', {}, [certifiedDirectory()]);
    expect(below(spans, 'refused')).toEqual([]);
  });
});

/** Loops have samples, and no stalls on a busy machine. */
const watched = { TRACEWRIGHT_STALL_MS: '60000' };

/** The attribute of all records of the event loop in a directory: its values that are there. */
function loopValues(directory: string, attribute: string): number[] {
  return hephFiles(directory)
    .flatMap((path) => [...readPackets(path)])
    .filter((packet): packet is EventPacket => packet.kind === 'event')
    .filter(({ description }) => description === 'tracewright.loop')
    .flatMap(({ attributes }) => attributes.filter(({ name }) => name === attribute))
    .map(({ value }) => Number(value));
}

describe('look-ups of the program itself', () => {
  it('are counted with net if they succeed, and belong to no span', async () => {
    const [counted, without] = await Promise.all([
      runScript('look-ups', { ...env, ...watched }),
      runScript('look-ups', watched),
    ]);
    // Of the other two one fails, and one is an address.
    const counts = loopValues(counted.directory, 'lookups');
    expect(counts.reduce((all, each) => all + each, 0)).toBe(3);
    for (const ns of loopValues(counted.directory, 'dns')) expect(ns).toBeGreaterThan(1000);
    expect(below(counted.spans, 'work')).toEqual([]);
    expect(loopValues(without.directory, 'busy')).not.toEqual([]);
    expect(loopValues(without.directory, 'lookups')).toEqual([]);
  });
});
