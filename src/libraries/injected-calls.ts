/** A node of a syntax tree, as ESTree names them. */
export interface SyntaxNode {
  type: string;
  [field: string]: unknown;
}

/** What `@apm-js-collab/code-transformer` hands to a transformation. */
interface Transformation {
  channelName: string;
  transforms: {
    /** Declares the channel at the top of the program, once. */
    tracingChannelDeclaration(state: Transformation, program: SyntaxNode): void;
  };
}

/** The call in the text of the library: what its message has, and where that is found. */
export type CallMessage = Readonly<Record<string, string>>;

/** Changes a syntax tree, where its query has matched. */
export type Transform = (
  state: Transformation,
  node: SyntaxNode,
  parent: SyntaxNode,
  ancestry: readonly SyntaxNode[],
) => void;

function identifier(name: string): SyntaxNode {
  return name === 'this' ? { type: 'ThisExpression' } : { type: 'Identifier', name };
}

function member(object: SyntaxNode, name: string): SyntaxNode {
  const property = identifier(name);
  return { type: 'MemberExpression', object, property, computed: false, optional: false };
}

/** `name` or `object.property`. */
function expression(path: string): SyntaxNode {
  const [first = '', ...rest] = path.split('.');
  return rest.reduce(member, identifier(first));
}

function property([name, path]: readonly [string, string]): SyntaxNode {
  return {
    type: 'Property',
    kind: 'init',
    key: identifier(name),
    value: expression(path),
    computed: false,
    method: false,
    shorthand: false,
  };
}

/** The name that the package gives to the variable of a channel. */
function channelVariable(channelName: string): string {
  return `tr_ch_apm$${channelName.replaceAll(/\W/g, '_')}`;
}

/**
 * Publishes a call of a function that the program has given to a library: `f(a)` becomes
 * `channel.traceSync(f, message, undefined, a)`, which returns what `f` returns, and throws what it throws.
 *
 * @param message names of the message's fields, and the expressions that they become.
 */
export function tracedCall(message: CallMessage): Transform {
  return (state, call, _parent, ancestry) => {
    state.transforms.tracingChannelDeclaration(state, ancestry.at(-1)!);
    const callee = call['callee'] as SyntaxNode;
    const receiver =
      callee.type === 'MemberExpression'
        ? (callee['object'] as SyntaxNode)
        : { type: 'UnaryExpression', operator: 'void', prefix: true, argument: zero() };
    const properties = Object.entries(message).map(property);
    call['callee'] = member(identifier(channelVariable(state.channelName)), 'traceSync');
    call['arguments'] = [
      callee,
      { type: 'ObjectExpression', properties },
      receiver,
      ...(call['arguments'] as SyntaxNode[]),
    ];
  };
}

function zero(): SyntaxNode {
  return { type: 'Literal', value: 0, raw: '0' };
}
