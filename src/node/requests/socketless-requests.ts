import { isObject } from '../../libraries/engine/payload.js';
import { matchOf } from '../../libraries/engine/router-matches.js';
import type { SocketlessRequest } from '../../libraries/engine/socketless-requests.js';
import { SOCKETLESS } from '../../libraries/channel-names.js';
import { spans } from '../../spans/shared-spans.js';
import { Guard } from '../guard.js';
import { subscribe } from './channels.js';
import { pathOf, routeOf } from './path-and-route.js';
import type { ServedRequest } from './exchange.js';
import type { ServerRecorder } from './server-recorder.js';

/** The answer of an application: that of Node's server, or of the web. */
interface Answer {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly writableEnded?: unknown;
  readonly headersSent?: unknown;
  once?: (event: string, listen: () => void) => unknown;
}

function statusOf({ statusCode, status }: Answer): number | undefined {
  const found = statusCode ?? status;
  return typeof found === 'number' ? found : undefined;
}

/** Records the requests that applications get without a socket. */
export function traceSocketlessRequests(recorder: ServerRecorder): void {
  const guard = new Guard('requests without a socket');

  class Exchange {
    readonly #request: SocketlessRequest;
    readonly #served: ServedRequest;
    #isOver = false;

    constructor(request: SocketlessRequest) {
      this.#request = request;
      const { method, url, headers } = request;
      this.#served = recorder.startSocketless(method, pathOf(url), headers);
    }

    run<Result>(serve: () => Result): Result {
      const { span } = this.#served;
      let result: Result;
      try {
        result = span === undefined ? serve() : spans.runWith(span, serve);
      } catch (error) {
        this.#end(undefined);
        throw error;
      }
      this.#follow(this.#request.response ?? result);
      return result;
    }

    #follow(answer: unknown): void {
      if (!isObject(answer)) {
        this.#end(undefined);
      } else if (answer instanceof Promise) {
        answer.then(
          (value: unknown) => {
            this.#follow(value);
          },
          () => {
            this.#end(undefined);
          },
        );
      } else {
        this.#whenAnswered(answer);
      }
    }

    #whenAnswered(answer: Answer): void {
      if (typeof answer.once !== 'function' || answer.writableEnded === true) {
        this.#end(statusOf(answer));
        return;
      }
      answer.once('finish', () => {
        this.#end(statusOf(answer));
      });
      answer.once('close', () => {
        this.#end(undefined);
      });
    }

    /** @param status undefined: it was not answered. */
    #end(status: number | undefined): void {
      if (this.#isOver || !guard.on) return;
      this.#isOver = true;
      try {
        const served = this.#served;
        const { request } = this.#request;
        served.route = routeOf(request, matchOf(request), '', served.path ?? '');
        recorder.end(served, status, undefined, status === undefined);
      } catch (error) {
        guard.fail(error);
      }
    }
  }

  subscribe(
    SOCKETLESS,
    guard.wrap((message: SocketlessRequest) => {
      const exchange = new Exchange(message);
      message.run = (serve) => exchange.run(serve);
    }) as (message: unknown) => void,
  );
}
