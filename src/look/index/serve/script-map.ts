import { realpathSync, statSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseBoundedJson, readBoundedJson } from '../../../core/files/untrusted-json.js';
import { readRegularFile } from '../../../core/files/regular-file.js';
import { lineIn, positionIn } from '../../../core/script-positions.js';
import type { SourcePosition } from '../../../core/script-positions.js';

/** Bytes of a script that is read for the name of its map, or for the map. */
const MOST_SCRIPT = 64 << 20;
/** Characters of the mappings: Node reads some 5 million a second. */
const MOST_MAPPINGS = 8 << 20;
const MOST_SOURCE = 1024;

const POINTER = '\n//# sourceMappingURL=';
const INLINE = /^data:application\/json(?:;charset=utf-8)?;base64,/i;
const URL_LIKE = /^[a-z][\w+.-]*:\/\//i;
const CONTROLS = /[\p{Cc}\u2028\u2029]/u;

/** A position in a source. It is a name to show: the file is never read. */
interface OriginalPosition extends SourcePosition {
  readonly source: string;
  /** In the source, if that differs. */
  readonly name: string | undefined;
}

/** Where a path leads, if that is below a directory, outside packages, and has not changed since a time. */
function trustedFile(path: string, root: string, until: number): string | undefined {
  const real = realpathSync(path);
  if (!real.startsWith(root + sep) || real.includes(`${sep}node_modules${sep}`)) return undefined;
  // A tool that copies files may keep their times of modification.
  return statSync(real).ctimeMs <= until ? real : undefined;
}

/** The source map of a script that a compiler or bundler has written. */
export class ScriptMap {
  readonly #map: SourceMap;
  readonly #directory: string;
  readonly #sourceRoot: string;
  /** Characters that were read. */
  readonly size: number;

  private constructor(directory: string, map: object) {
    const { sections, sourceRoot } = map as Record<string, unknown>;
    const maps = Array.isArray(sections) ? sections.map(mapOfSection) : [map];
    if (!maps.every(isMap)) throw new Error('this is no source map');
    this.size = maps.reduce((sum, { mappings }) => sum + mappings.length, 0);
    if (this.size > MOST_MAPPINGS) throw new Error('the source map is too large');
    this.#directory = directory;
    this.#sourceRoot = typeof sourceRoot === 'string' && sourceRoot !== '' ? `${sourceRoot}/` : '';
    for (const each of maps) delete each.sourcesContent;
    this.#map = new SourceMap(map as ConstructorParameters<typeof SourceMap>[0]);
  }

  /**
   * Reads the map that a script names: in itself, or a file next to it.
   *
   * @param root the directory below which both lie.
   * @param until ms since 1970: since then neither has changed.
   * @returns undefined: there is none.
   * @throws an error of any kind where files cannot be read, or are not what they should be.
   */
  static of(script: string, root: string, until: number): ScriptMap | undefined {
    const real = trustedFile(script, root, until);
    if (real === undefined) return undefined;
    const text = readRegularFile(real, MOST_SCRIPT).toString('utf8');
    const at = text.lastIndexOf(POINTER);
    if (at === -1) return undefined;
    const [url = ''] = text.slice(at + POINTER.length).split(/\s/, 1);
    const inline = INLINE.exec(url);
    if (inline !== null) {
      const bytes = Buffer.from(url.slice(inline[0].length), 'base64');
      return new ScriptMap(dirname(real), parseBoundedJson(real, bytes) as object);
    }
    if (URL_LIKE.test(url) || url.startsWith('data:')) return undefined;
    const path = trustedFile(resolve(dirname(real), decodeURI(url)), root, until);
    return path === undefined
      ? undefined
      : new ScriptMap(dirname(path), readBoundedJson(path) as object);
  }

  /** @returns undefined: no source has it. */
  positionOf(line: number, column: number): OriginalPosition | undefined {
    return this.#named(positionIn(this.#map, line, column));
  }

  /** The line of a source that a whole line of the script is of; undefined: of none, or of several. */
  lineOf(line: number): OriginalPosition | undefined {
    return this.#named(lineIn(this.#map, line));
  }

  #named(position: SourcePosition | undefined): OriginalPosition | undefined {
    const source = this.#sourceOf(position?.source);
    if (position === undefined || source === undefined) return undefined;
    const { name } = position;
    const isName = typeof name === 'string' && /^[\w$#]{1,200}$/.test(name);
    return { ...position, source, name: isName ? name : undefined };
  }

  #sourceOf(name: unknown): string | undefined {
    if (typeof name !== 'string' || name === '' || name.length > MOST_SOURCE) return undefined;
    const source = pathOfUrl(URL_LIKE.test(name) ? name : this.#sourceRoot + name);
    if (source === undefined || CONTROLS.test(source)) return undefined;
    return URL_LIKE.test(source) ? source : resolve(this.#directory, source);
  }
}

/** The path of a URL of a file; others, and what is no URL, as they are. Undefined: it is none. */
export function pathOfUrl(url: string): string | undefined {
  if (!url.startsWith('file:')) return url;
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

interface PlainMap {
  mappings: string;
  sourcesContent?: unknown;
}

/** Node reads a map as it is: a list of another kind might have no end. */
function isMap(map: unknown): map is PlainMap {
  const { mappings, sources } = map as Record<string, unknown>;
  const isText = (each: unknown): boolean => typeof each === 'string' || each === null;
  return typeof mappings === 'string' && Array.isArray(sources) && sources.every(isText);
}

/** The map of a section. Node adds to its offset, whatever that is. */
function mapOfSection(section: unknown): unknown {
  const { offset, map } = section as Record<string, Record<string, unknown>>;
  const isCount = (each: unknown): boolean => Number.isInteger(each) && (each as number) >= 0;
  if (!isCount(offset!['line']) || !isCount(offset!['column'])) throw new Error('no offset');
  return map;
}
