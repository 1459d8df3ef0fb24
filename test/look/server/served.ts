import { dirname, join } from 'node:path';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { startViewServer } from '../../../src/look/server/view-server.js';
import type { ViewServer } from '../../../src/look/server/view-server.js';
import { TOKEN_HEADER } from '../../../src/look/wire/answers.js';
import { main } from '../../cli/run-command.js';

/** What the page's server answers about some traces. */
export class Served {
  readonly #server: ViewServer;

  private constructor(server: ViewServer) {
    this.#server = server;
  }

  static async of(...paths: string[]): Promise<Served> {
    const index = await openLookIndex(paths, { cache: false });
    const pageDirectory = join(dirname(main), '../page');
    return new Served(await startViewServer({ index, paths, pageDirectory }));
  }

  /** The address of the page. */
  get url(): string {
    return this.#server.url;
  }

  /** The text of an answer. */
  async text(path: string, query: Record<string, string | number> = {}): Promise<string> {
    return new TextDecoder().decode(await this.bytes(path, query));
  }

  async bytes(path: string, query: Record<string, string | number> = {}): Promise<ArrayBuffer> {
    const url = new URL(path, `http://127.0.0.1:${this.#server.port}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const answer = await fetch(url, { headers: { [TOKEN_HEADER]: this.#server.token } });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.arrayBuffer();
  }

  async json<T>(path: string, query: Record<string, string | number> = {}): Promise<T> {
    return JSON.parse(await this.text(path, query)) as T;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
