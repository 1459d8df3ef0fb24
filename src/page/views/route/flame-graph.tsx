import { useMemo, useState } from 'preact/hooks';
import { nameWithTarget } from '../../../look/report/names/request-name.js';
import { shareText } from '../../../look/report/measures/units.js';
import type { FlameNode } from '../../../look/report/shape/report-shape.js';
import { useApp } from '../../state/app.js';
import { colourOfText, cssColour } from '../../theme/palette.js';
import { TreeRows } from '../trace/tree-rows.js';

/** Of the width: narrower nodes are not drawn. */
const LEAST = 0.0015;

/** Where a node lies, as shares of the width. */
interface Extent {
  left: number;
  width: number;
}

interface FlameGraphProps {
  nodes: readonly FlameNode[];
  /** What they are, in words: `Spans of the critical path`. */
  what: string;
  /** How a figure of a node is written. */
  text: (figure: number) => string;
  /** Each name has a colour, and not only the frequent ones of the recording. */
  areFunctions?: boolean;
}

/** What requests led through, merged by names. */
export function FlameGraph({ nodes, what, text, areFunctions = false }: FlameGraphProps) {
  const app = useApp();
  const tree = useMemo(
    () => new TreeRows(nodes.map(({ depth }) => ({ depth, repeated: 1 }))),
    [nodes],
  );
  const [top, zoom] = useState(0);
  const [active, activate] = useState(0);
  const root = nodes[top] ?? nodes[0];
  const extents = useMemo(() => extentsOf(tree, nodes, top), [tree, nodes, top]);
  if (root === undefined || nodes.length < 2) return null;
  const shown = nodes[active] ?? root;
  const deepest = nodes.reduce(
    (most, { depth }, at) => (extents[at] === undefined ? most : Math.max(most, depth)),
    0,
  );
  const wordsOf = (node: FlameNode): string => textOf(node, nodes[0]!, text);
  const colourOf = ({ kind, name }: FlameNode): string => {
    if (kind !== 'span') return cssColour(kind === 'collection' ? 'collection' : 'stall');
    return areFunctions ? colourOfText(name) : app.recording.nameColours.of(name);
  };
  const go = (at: number | undefined): void => {
    if (at === undefined || extents[at] === undefined) return;
    activate(at);
    app.announce(wordsOf(nodes[at]!));
  };
  const next = (at: number, step: number): number | undefined => {
    for (let other = at + step; other >= 0 && other < nodes.length; other += step) {
      if (nodes[other]!.depth === nodes[at]!.depth && extents[other] !== undefined) return other;
    }
    return undefined;
  };
  const onKey = (event: KeyboardEvent): void => {
    const targets: Readonly<Record<string, number | undefined>> = {
      ArrowDown: tree.hasChildren(active) ? active + 1 : undefined,
      ArrowUp: tree.above(active),
      ArrowRight: next(active, 1),
      ArrowLeft: next(active, -1),
    };
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key in targets) go(targets[key]);
    else if (key === 'Enter') zoom(active === top ? 0 : active);
    else if (key === 'Escape') zoom(0);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div
        class="flame"
        role="tree"
        aria-label={`${what}: arrows move, Enter zooms, Escape shows all`}
        aria-activedescendant={`flame-${active}`}
        tabIndex={0}
        style={{ height: `calc(${deepest + 1} * 22rem / 13)` }}
        onKeyDown={onKey}
      >
        {nodes.map((node, at) => {
          const extent = extents[at];
          if (extent === undefined) return null;
          const words = wordsOf(node);
          return (
            <div
              key={at}
              id={`flame-${at}`}
              role="treeitem"
              aria-level={node.depth + 1}
              aria-selected={at === active}
              class={`flame-node ${node.kind}${at === active ? ' active' : ''}`}
              title={words}
              aria-label={words}
              style={{
                left: `${(extent.left * 100).toFixed(3)}%`,
                width: `${(extent.width * 100).toFixed(3)}%`,
                top: `calc(${node.depth} * 22rem / 13)`,
                backgroundColor: colourOf(node),
              }}
              onPointerEnter={() => {
                activate(at);
              }}
              onClick={() => {
                zoom(at === top ? 0 : at);
              }}
            >
              {nameWithTarget(node)}
            </div>
          );
        })}
      </div>
      <p class="quiet">{wordsOf(shown)}</p>
    </>
  );
}

/** `SELECT products in shop: 12 ms (54 %), 10 ms itself` */
function textOf(node: FlameNode, { total: all }: FlameNode, text: FlameGraphProps['text']): string {
  const { service, total, self } = node;
  const where = service === null ? '' : ` in ${service}`;
  const own = self > 0 && self < total ? `, ${text(self)} itself` : '';
  return `${nameWithTarget(node)}${where}: ${text(total)} (${shareText(total / all)})${own}`;
}

/** The node at the top and those above it fill the width; those below have their share of it. */
function extentsOf(
  tree: TreeRows,
  nodes: readonly FlameNode[],
  top: number,
): readonly (Extent | undefined)[] {
  const extents: (Extent | undefined)[] = nodes.map(() => undefined);
  const all = nodes[top]?.total ?? 1;
  for (let at = top; at >= 0; at = tree.above(at)) extents[at] = { left: 0, width: 1 };
  const waiting = [top];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    let { left } = extents[at]!;
    for (const child of tree.children(at)) {
      const width = nodes[child]!.total / all;
      if (width >= LEAST) {
        extents[child] = { left, width };
        waiting.push(child);
      }
      left += width;
    }
  }
  return extents;
}
