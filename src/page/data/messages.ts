import type { MessageColumns } from '../../look/wire/answers.js';
import { LastQuestion } from './last-question.js';
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
  readonly #question = new LastQuestion();

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
    const fields = { from: first, to: last, most: MOST };
    this.#question.ask(
      key,
      (signal) => this.#server.columns<MessageColumns>('/data/messages', fields, signal),
      ({ columns }) => {
        this.shown = columns;
        this.onChange();
      },
    );
  }
}
