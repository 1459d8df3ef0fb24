import { channel } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { CALL_HEADERS } from '../../libraries/channel-names.js';

/** The parts of a request that Node does not document. */
type Internals = ClientRequest & { _storeHeader: (firstLine: string, headers: unknown) => void };

/** Gets the headers as Node has them, and returns those that are sent. */
type Observer = (request: ClientRequest, headers: unknown) => unknown;

let observer: Observer | undefined;
let isWrapped = false;

/** Sets what sees each request of node:http before its headers are made, and may add to them. It must not throw. */
export function observeHeaders(observe: Observer): void {
  observer = observe;
  wrapStoredHeaders();
}

/**
 * Wraps the one function that makes the headers of a request into text: of its constructor too, for headers that are a
 * list and for `Expect`.
 */
export function wrapStoredHeaders(): void {
  if (isWrapped) return;
  isWrapped = true;
  const first = channel(CALL_HEADERS);
  const { ClientRequest: Request } = process.getBuiltinModule('node:http');
  const prototype = Request.prototype as Internals;
  const store = prototype._storeHeader;
  prototype._storeHeader = function _storeHeader(this: Internals, firstLine, headers) {
    if (observer === undefined) first.publish({ request: this });
    store.call(this, firstLine, observer === undefined ? headers : observer(this, headers));
  };
}
