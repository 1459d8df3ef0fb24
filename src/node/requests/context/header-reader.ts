import { BAGGAGE, TRACE_PARENT } from '../../../spans/context/headers.js';
import { hostAndPort } from '../conventions.js';

const HOST = 'host';

/** Whether a name is that of a header, in any case. No text is made. */
function isHeader(name: string, header: string): boolean {
  if (name.length !== header.length) return false;
  // Letters of lower case have this bit.
  for (let i = 0; i < header.length; i++) {
    if ((name.charCodeAt(i) | 0x20) !== header.charCodeAt(i)) return false;
  }
  return true;
}

/**
 * What a span needs of the headers of requests. It reads the list that Node has made of them: Node makes the object
 * on request only, and that costs more than the span.
 */
export class HeaderReader {
  host: string | undefined = undefined;
  port: number | undefined = undefined;
  /** Whether the caller has sent a trace or baggage. */
  hasContext = false;
  /** The header `Host`; empty if there is none. Most requests are for the same one: that is the same string, too. */
  authority = '';

  /** @param headers names and values in turn. */
  read(headers: readonly string[]): void {
    this.hasContext = false;
    let authority = '';
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      if (isHeader(name, HOST)) {
        if (authority === '') authority = headers[i + 1] ?? '';
      } else if (isHeader(name, TRACE_PARENT) || isHeader(name, BAGGAGE)) {
        this.hasContext = true;
      }
    }
    if (authority === this.authority) return;
    this.authority = authority;
    const found = hostAndPort(authority);
    this.host = found?.host;
    this.port = found?.port;
  }
}
