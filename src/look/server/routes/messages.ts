import type { LookIndex, Message } from '../../index/look-index.js';
import type { MessageColumns } from '../../wire/answers.js';
import type { Route } from '../route.js';

/** Arrows in a window, the longest of them: `from`, `to` in ns, `most`. */
export const messagesRoute: Route = {
  path: '/data/messages',
  method: 'GET',
  answer({ recording: { index, revision }, query }) {
    const { from, to } = query.range();
    const most = query.integer('most', 1, 10_000);
    const found = index.messages.filter(({ sent, received }) => sent < to && received >= from);
    const shown = found.length <= most ? found : longest(found, most);
    return { columns: { ...columnsOf(index, shown) }, meta: { revision, found: found.length } };
  },
};

function longest(messages: Message[], most: number): Message[] {
  return messages
    .sort((a, b) => b.received - b.sent - (a.received - a.sent))
    .slice(0, most)
    .sort((a, b) => a.sent - b.sent);
}

function columnsOf(index: LookIndex, messages: readonly Message[]): MessageColumns {
  const of = (row: number, column: 'track' | 'lane'): number => {
    const part = index.partOf(row);
    return part[column][row - part.firstRow]!;
  };
  return {
    fromTrack: Uint32Array.from(messages, ({ fromRow }) => of(fromRow, 'track')),
    toTrack: Uint32Array.from(messages, ({ toRow }) => of(toRow, 'track')),
    fromLane: Uint16Array.from(messages, ({ fromRow }) => of(fromRow, 'lane')),
    toLane: Uint16Array.from(messages, ({ toRow }) => of(toRow, 'lane')),
    sent: Float64Array.from(messages, ({ sent }) => sent),
    received: Float64Array.from(messages, ({ received }) => received),
    bytes: Float64Array.from(messages, ({ bytes }) => bytes),
  };
}
