/** The channel of requests that an application gets without a socket. */
export const SOCKETLESS = 'tracewright.request.socketless';

/** The channel of the headers of a request of node:http, until something observes them. */
export const CALL_HEADERS = 'tracewright:http.client.headers';
