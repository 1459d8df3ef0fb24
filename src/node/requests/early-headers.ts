import { channel } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** The parts of a request that Node does not document. */
type Internals = ClientRequest & { _implicitHeader: () => void };

/**
 * Publishes each request of node:http before its headers are made, as Node 22 and later do. For this it wraps
 * the one function that makes them. A request whose headers are a list has them made by its constructor, and is
 * not published.
 */
export function publishCreatedRequests(): void {
  const created = channel('http.client.request.created');
  const { ClientRequest: Request } = process.getBuiltinModule('node:http');
  const prototype = Request.prototype as Internals;
  const makeHeaders = prototype._implicitHeader;
  prototype._implicitHeader = function _implicitHeader(this: Internals) {
    if (created.hasSubscribers) created.publish({ request: this });
    makeHeaders.call(this);
  };
}
