// Heph: one file that all threads feed.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkTrace, openTrace, readPackets, recoverTrace } from 'tracewright/heph';

const fileOf = (place) => join(place, 'trace.heph');

export const heph = {
  name: 'heph',
  open(place, thread, options) {
    const stream = openTrace(fileOf(place), options).stream(thread);
    const span = stream.span('event', { n: 'u64' });
    const large = 'x'.repeat(40_000);
    return (n) => {
      if (n % 5003 === 5002) stream.finishTrace(stream.startTrace(), 'large', { n, large });
      else span.finish(stream.startTrace(), n);
    };
  },
  recover: (place) => recoverTrace(fileOf(place)),
  isThere: (place) => existsSync(fileOf(place)),
  read(place, visit) {
    for (const packet of readPackets(fileOf(place))) {
      if (packet.kind === 'event') visit(packet.stream, Number(packet.attributes[0].value));
    }
  },
  check: (place) => checkTrace(fileOf(place)),
  accept: () => undefined,
};
