import { entryOf } from '../../../core/map-entries.js';
import type { FlameNode } from '../shape/report-shape.js';
import type { TreeSpan } from '../shape/trace-shape.js';

/** Nodes that are kept, and levels of spans: what lies deeper counts as its parent's. */
const MOST_NODES = 5000;
const MOST_DEPTH = 64;
/** Less of the whole nobody sees. */
const LEAST_SHARE = 0.001;

type NodeFields = Omit<FlameNode, 'depth' | 'total' | 'self'>;

interface Node {
  fields: NodeFields & Pick<FlameNode, 'self'>;
  children: Map<string, Node>;
}

/** Adds up the critical paths of requests by the spans that they lead through, or samples by the calls above them. */
export class FlameTally {
  #root: Node | undefined;
  #nodes = 0;
  /** Figures are those of one of them. */
  #requests = 0;

  /**
   * @param spans the first is the request.
   * @param weight how many requests it is for. @param ofTime how often its time counts.
   */
  add(spans: readonly TreeSpan[], waited: Float64Array, weight: number, ofTime: number): void {
    this.#root ??= nodeOf(spans[0]!);
    this.#requests += weight;
    const known = new Map<number, Node>([[0, this.#root]]);
    for (let at = 0; at < spans.length; at++) {
      if (waited[at]! > 0) this.#find(at, spans, known).fields.self += ofTime * waited[at]!;
    }
  }

  /** @param path from the root, which is the same in each. */
  addPath([root, ...path]: readonly [NodeFields, ...NodeFields[]], self: number): void {
    this.#root ??= nodeOf(root);
    this.#requests = 1;
    let node = this.#root;
    for (const fields of path.slice(0, MOST_DEPTH)) node = this.#below(node, fields) ?? node;
    node.fields.self += self;
  }

  /** The node of a name below another one; undefined: there are too many. */
  #below({ children }: Node, fields: NodeFields): Node | undefined {
    const { kind, name, system, target, service } = fields;
    const key = [kind, service, system, target, name].join('\n');
    if (!children.has(key) && this.#nodes >= MOST_NODES) return undefined;
    return entryOf(children, key, () => {
      this.#nodes += 1;
      return nodeOf(fields);
    });
  }

  #find(at: number, spans: readonly TreeSpan[], known: Map<number, Node>): Node {
    const path: number[] = [];
    let next = at;
    while (!known.has(next) && path.length < MOST_DEPTH && next >= 0 && next < spans.length) {
      path.push(next);
      next = spans[next]!.parent;
    }
    let node = known.get(next) ?? this.#root!;
    for (const each of path.reverse()) {
      const below = this.#below(node, spans[each]!);
      if (below === undefined) break;
      node = below;
      known.set(each, node);
    }
    return node;
  }

  /** From the top, each followed by those below it: the ones that took most first. */
  get nodes(): FlameNode[] {
    if (this.#root === undefined) return [];
    const totals = new Map<Node, number>();
    const sum = (node: Node): number => {
      let total = node.fields.self;
      for (const child of node.children.values()) total += sum(child);
      totals.set(node, total);
      return total;
    };
    const least = LEAST_SHARE * sum(this.#root);
    const nodes: FlameNode[] = [];
    const list = (node: Node, depth: number): void => {
      const [self, total] = [node.fields.self / this.#requests, totals.get(node)! / this.#requests];
      nodes.push({ ...node.fields, depth, self, total });
      const shown = [...node.children.values()].filter((child) => totals.get(child)! >= least);
      shown.sort((a, b) => totals.get(b)! - totals.get(a)!);
      for (const child of shown) list(child, depth + 1);
    };
    list(this.#root, 0);
    return nodes;
  }
}

function nodeOf({ kind, name, system, target, service }: NodeFields): Node {
  return { fields: { kind, name, system, target, service, self: 0 }, children: new Map() };
}
