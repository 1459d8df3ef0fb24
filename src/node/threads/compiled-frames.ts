import { findSourceMap, SourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import { BoundedCache } from '../../core/bounded-cache.js';
import { entryOf } from '../../core/map-entries.js';
import { lineIn, positionIn } from '../../core/script-positions.js';
import { isCompiled, mapInScript } from '../compiled-scripts.js';

/** Characters of mappings: Node reads some 5,000 a millisecond. */
const MOST_MAPPINGS = 128 << 10;
const KNOWN_FRAMES = 1000;
const LONGEST_FRAME = 1024;

const FRAME = /^(at (?:.* \()?)(.*):(\d+):(\d+)(\)?)$/;

const maps = new Map<string, SourceMap | null>();
const frames = new BoundedCache(KNOWN_FRAMES, LONGEST_FRAME, (frame) => {
  const [, before, path = '', line, column, after] = FRAME.exec(frame) ?? [];
  const map = isCompiled(path) ? mapOf(path) : null;
  const position = map && positionIn(map, Number(line), Number(column));
  return position ? `${before}${path}:${position.line}:${position.column}${after}` : frame;
});

/** The map of a script that a loader has compiled in memory: of itself alone. */
function mapOf(path: string): SourceMap | null {
  return entryOf(maps, path, () => {
    try {
      // tsx has Node keep them.
      const map = findSourceMap(path) ?? findSourceMap(pathToFileURL(path).href) ?? noted(path);
      return map?.payload.sources.length === 1 ? map : null;
    } catch {
      return null;
    }
  });
}

function noted(path: string): SourceMap | undefined {
  const text = mapInScript(path);
  if (text === undefined) return undefined;
  const map = JSON.parse(Buffer.from(text, 'base64').toString()) as SourceMap['payload'];
  return map.mappings.length <= MOST_MAPPINGS ? new SourceMap(map) : undefined;
}

/** Frames in lines, by the sources of scripts that were compiled in memory. Others are mapped by who reads them. */
export function originalFrames(text: string): string {
  return text
    .split('\n')
    .map((frame) => frames.of(frame))
    .join('\n');
}

/**
 * The same of lines that were sampled, `node:line:samples`. One that is not only of one line of the source says nothing.
 *
 * @param text frames as V8 has them. @param nodes `frame:parent`.
 */
export function originalLines(lines: string, text: string, nodes: string): string {
  const [ofV8, ofNodes] = [text.split('\n'), nodes.split(',')];
  const original = lines.split(',').map((each) => {
    const [node, line, samples] = each.split(':');
    const frame = ofV8[Number.parseInt(ofNodes[Number(node)] ?? '', 10)] ?? '';
    if (frames.of(frame) === frame) return each;
    const found = lineIn(mapOf(FRAME.exec(frame)![2]!)!, Number(line));
    return found && `${node}:${found.line}:${samples}`;
  });
  return original.filter((each) => each !== undefined).join();
}
