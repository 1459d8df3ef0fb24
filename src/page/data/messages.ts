import type { MessageColumns } from '../../look/wire/answers.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

/** More arrows than that show nothing. */
const MOST = 400;

/** Arrows between ranks in the window that the screen shows; until they have come, those of the last one. */
export class Messages {
  onChange: () => void = () => undefined;
  /** Undefined: none. */
  shown: MessageColumns | undefined;
  readonly #server: Server;
  readonly #recording: RecordingData;
  #wanted = '';
  #asked: AbortController | undefined;

  constructor(server: Server, recording: RecordingData) {
    this.#server = server;
    this.#recording = recording;
  }

  /** Says what the screen shows now. */
  want(from: number, to: number): void {
    const { answer } = this.#recording;
    if (answer === undefined || answer.messages === 0) return;
    const step = 2 ** Math.round(Math.log2(to - from)) / 4;
    const first = Math.floor(from / step) * step;
    const last = Math.ceil(to / step) * step;
    const key = [answer.generation, answer.revision, first, last].join(' ');
    if (key === this.#wanted) return;
    this.#wanted = key;
    void this.#fetch(first, last);
  }

  async #fetch(from: number, to: number): Promise<void> {
    this.#asked?.abort();
    const asked = (this.#asked = new AbortController());
    try {
      const fields = { from, to, most: MOST };
      const answer = await this.#server.columns('/data/messages', fields, asked.signal);
      this.shown = answer.columns as unknown as MessageColumns;
      this.onChange();
    } catch {
      // Aborted, or the connection says why.
      if (this.#asked === asked) this.#wanted = '';
    }
  }
}
