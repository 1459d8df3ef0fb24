import type { EventPacket } from '../../heph/packet.js';
import type { CounterValue, InterpretedEvent, Interpretation } from '../../heph/read/chrome.js';
import type { PacketCursor } from '../../heph/read/packet-cursor.js';
import { drawnSpan, requestName, ShownSpans } from '../../spans/read/drawn-spans.js';
import { isLoopRecord, loopValues } from '../../spans/read/loop-curves.js';
import { processIdOf } from '../../spans/read/process-id.js';
import { pidOfFile } from '../../traces/run-directory.js';

/** What the register hook calls its spans of requests, where they have no context. */
const REQUESTS: ReadonlySet<string> = new Set(['request', 'http client', 'fetch']);

const NS_PER_MS = 1e6;

/** What the events of a Heph trace are: spans and definitions of tracewright/spans, and requests. */
export class SpanInterpretation implements Interpretation {
  readonly #path: string;
  readonly #spans: ShownSpans;

  constructor(path: string) {
    this.#path = path;
    this.#spans = new ShownSpans(path);
  }

  note(cursor: PacketCursor): boolean {
    return !this.#spans.noteDefinition(cursor);
  }

  read(cursor: PacketCursor): InterpretedEvent | undefined {
    const span = this.#spans.spanAt(cursor);
    return span === undefined ? undefined : drawnSpan(span);
  }

  /** `GET /users/:id` rather than `request`. */
  nameOf(event: EventPacket): string {
    const { description, attributes } = event;
    if (!REQUESTS.has(description)) return description;
    const valueOf = (wanted: string) => attributes.find(({ name }) => name === wanted)?.value;
    return requestName(valueOf) ?? description;
  }

  /** What an event loop did. Chrome's counters have no units: their names say them. */
  countersOf(event: EventPacket): CounterValue[] | undefined {
    if (!isLoopRecord(event)) return undefined;
    return loopValues(event).map(({ name, unit, value }) => {
      if (unit === 'ns') return { name: `${name} ms`, value: value / NS_PER_MS };
      return { name: unit === '%' ? `${name} %` : name, value };
    });
  }

  process(): { pid: number | undefined; name: string | undefined } {
    const { resource } = this.#spans;
    const service = resource?.attributes['service.name'];
    return {
      pid: processIdOf(resource) ?? pidOfFile(this.#path),
      name: typeof service === 'string' ? service : undefined,
    };
  }
}
