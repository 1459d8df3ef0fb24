import type { RecordingAnswer, SourceAnswer } from '../../look/wire/answers.js';
import { Store } from '../state/store.js';
import { AssignedColours } from '../theme/palette.js';
import type { Server } from './server.js';

/** How often a live recording is asked what is new, and a server that is gone whether it is back, in ms. */
const POLL_INTERVAL = 400;

/** The recording as a whole, as the server has answered it. */
export class RecordingData {
  readonly store: Store<{ answer: RecordingAnswer | undefined }> = new Store<{
    answer: RecordingAnswer | undefined;
  }>({ answer: undefined });
  /** Texts by number. The routes bring those that are new. */
  readonly names: string[] = [];
  /** Colours of names, and of services. Other objects when they have changed. */
  nameColours = new AssignedColours([]);
  serviceColours = new AssignedColours([]);
  readonly #server: Server;
  #coloured = '';

  constructor(server: Server) {
    this.#server = server;
  }

  get answer(): RecordingAnswer | undefined {
    return this.store.value.answer;
  }

  name(number: number): string {
    return this.names[number] ?? '';
  }

  addNames(first: number, texts: readonly string[]): void {
    texts.forEach((text, at) => {
      this.names[first + at] = text;
    });
  }

  /** Asks now, and again while the recording may change or the server is gone. */
  async follow(): Promise<void> {
    for (;;) {
      await this.#ask();
      const { state } = this.#server.connection.value;
      if (state === 'refused') return;
      if (state === 'good' && this.answer?.live === false) await this.#untilGone();
      else await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
    }
  }

  async #ask(): Promise<void> {
    try {
      const answer = await this.#server.json<RecordingAnswer>('/data/recording');
      const before = this.answer;
      if (before?.generation !== answer.generation) this.names.length = 0;
      if (before?.generation === answer.generation && before.revision === answer.revision) return;
      this.#assignColours(answer);
      this.store.set({ answer });
    } catch {
      // The connection says it.
    }
  }

  #assignColours({ frequentNames, sources }: RecordingAnswer): void {
    const services = [...new Set(sources.map(serviceOf))];
    const names = frequentNames.map(({ name }) => name);
    const coloured = JSON.stringify([names, services]);
    if (coloured === this.#coloured) return;
    this.#coloured = coloured;
    this.nameColours = new AssignedColours(names);
    this.serviceColours = new AssignedColours(services);
  }

  #untilGone(): Promise<void> {
    return new Promise((resolve) => {
      const end = this.#server.connection.watch(({ state }) => {
        if (state !== 'gone') return;
        end();
        resolve();
      });
    });
  }
}

/** The service that a source is of; a trace that does not say one is one of its own. */
export function serviceOf({ service, path }: SourceAnswer): string {
  return service ?? path;
}
