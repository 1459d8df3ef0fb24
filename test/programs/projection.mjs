// Spans of either tracer as a tree of lines.

const SHOWN = new Set(['server', 'client', 'producer', 'consumer']);
/** Spans of kind client that only get a connection. */
const CONNECTIONS = /connect$/i;

/** The first attribute that there is. */
function first(attributes, ...names) {
  for (const name of names) {
    const value = attributes[name];
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

function describeHttp(kind, attributes, ports) {
  const method = first(
    attributes,
    'http.request.method_original',
    'http.request.method',
    'http.method',
  );
  const status = first(attributes, 'http.response.status_code', 'http.status_code') ?? '-';
  if (kind === 'server') {
    return `server ${method} ${first(attributes, 'http.route') ?? '(no route)'} ${status}`;
  }
  const address = first(attributes, 'server.address', 'net.peer.name', 'http.host') ?? '?';
  const port = first(attributes, 'server.port', 'net.peer.port');
  const target = ports.get(Number(port)) ?? (port === undefined ? address : `${address}:${port}`);
  return `client ${method} ${target} ${status}`;
}

function describeQuery(attributes) {
  const system = first(attributes, 'db.system.name', 'db.system');
  const text = first(
    attributes,
    'db.operation.name',
    'db.query.summary',
    'db.query.text',
    'db.statement',
  );
  const [operation = '?'] = String(text ?? '?')
    .trim()
    .split(/\s/);
  return `client ${system} ${operation.toUpperCase()}`;
}

function describeCall(kind, attributes, name) {
  const service = first(attributes, 'rpc.service');
  const method = first(attributes, 'rpc.method') ?? name;
  const status = first(attributes, 'rpc.response.status_code', 'rpc.grpc.status_code') ?? '-';
  const code = [
    'OK',
    'CANCELLED',
    'UNKNOWN',
    'INVALID_ARGUMENT',
    'DEADLINE_EXCEEDED',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'PERMISSION_DENIED',
    'RESOURCE_EXHAUSTED',
    'FAILED_PRECONDITION',
    'ABORTED',
    'OUT_OF_RANGE',
    'UNIMPLEMENTED',
    'INTERNAL',
    'UNAVAILABLE',
    'DATA_LOSS',
    'UNAUTHENTICATED',
  ][status];
  const system = first(attributes, 'rpc.system.name', 'rpc.system');
  return `${kind} ${system} ${service === undefined ? method : `${service}/${method}`} ${code ?? status}`;
}

function describe({ kind, name, attributes, scope }, ports) {
  if (scope === 'program') return `own ${name}`;
  if (!SHOWN.has(kind)) return undefined;
  if (first(attributes, 'rpc.system.name', 'rpc.system') !== undefined) {
    return describeCall(kind, attributes, name);
  }
  if (first(attributes, 'db.system.name', 'db.system') !== undefined) {
    return CONNECTIONS.test(name) ? undefined : describeQuery(attributes);
  }
  const messaging = first(attributes, 'messaging.system');
  if (messaging !== undefined) {
    return `${kind} ${messaging} ${first(attributes, 'messaging.destination.name', 'messaging.destination') ?? '?'}`;
  }
  if (first(attributes, 'http.request.method', 'http.method') !== undefined) {
    return describeHttp(kind, attributes, ports);
  }
  return CONNECTIONS.test(name) ? undefined : `${kind} ${name}`;
}

/**
 * @param {object[]} spans each { spanId, parentSpanId, kind, name, attributes, scope, links, failed, unfinished }.
 * @param {Map<number, string>} ports names of ports.
 * @returns {string} a line a span, children below their parent, siblings sorted by their text.
 */
export function projectionOf(spans, ports) {
  const known = new Map(spans.map((span) => [span.spanId, span]));
  const children = new Map();
  for (const span of spans) {
    const line = describe(span, ports);
    if (line === undefined) continue;
    let parent = known.get(span.parentSpanId);
    let isRemote = span.parentSpanId !== undefined && parent === undefined;
    while (parent !== undefined && describe(parent, ports) === undefined) {
      isRemote = parent.parentSpanId !== undefined && !known.has(parent.parentSpanId);
      parent = known.get(parent.parentSpanId);
    }
    const failure = span.failed ? ` !${span.attributes['error.type'] ?? 'error'}` : '';
    const links = span.links > 0 ? ` links:${span.links}` : '';
    const open = span.unfinished ? ' (open)' : '';
    const text = `${isRemote ? '(remote) ' : ''}${line}${failure}${links}${open}`;
    const siblings = children.get(parent?.spanId) ?? [];
    siblings.push({ text, spanId: span.spanId });
    children.set(parent?.spanId, siblings);
  }
  const treeOf = (id, depth) =>
    (children.get(id) ?? [])
      .map(({ text, spanId }) =>
        [`${'  '.repeat(depth)}${text}`, ...treeOf(spanId, depth + 1)].join('\n'),
      )
      .sort();
  return treeOf(undefined, 0).join('\n');
}

/** The same without what both tracers name in words of their own: which error it was. */
export function comparable(tree) {
  return tree.replaceAll(/ !\S+/g, ' !');
}
