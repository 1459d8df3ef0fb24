import { existsSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { BoundedCache } from '../../../core/bounded-cache.js';
import { entryOf } from '../../../core/map-entries.js';
import { textIn } from '../../../spans/read/attribute-in.js';
import type { ProfilePart } from '../../../spans/read/profile-part.js';
import type { OriginalCode } from '../../../spans/read/span-source.js';
import type { RecordedResource } from '../../../spans/span-record.js';
import type { Source } from '../look-index.js';
import { ScriptMap, pathOfUrl } from './script-map.js';

/** Scripts of a recording that are looked at, ms that this takes together, and characters of mappings. */
const MOST_SCRIPTS = 500;
const MOST_TIME = 3000;
const MOST_MAPPINGS = 16 << 20;
/** Of a stack. */
const MOST_LINES = 200;
const MOST_LINE = 4096;
const KNOWN_LINES = 10_000;

/** Where a frame `at function (script:line:column)` is. */
interface FrameParts {
  /** `at function (`, `)` */
  readonly before: string;
  readonly after: string;
  readonly script: string;
  readonly line: number;
  readonly column: number;
}

function partsOf(frame: string): FrameParts | undefined {
  const [position, line, column, after] = /:(\d{1,7}):(\d{1,7})(\)?)$/.exec(frame) ?? [];
  const at = frame.indexOf('at ');
  if (position === undefined || at === -1 || frame.length > MOST_LINE) return undefined;
  const open = after === '' ? -1 : frame.indexOf(' (', at);
  const from = open === -1 ? at + 3 : open + 2;
  return {
    before: frame.slice(0, from),
    after: after!,
    script: frame.slice(from, -position.length),
    line: Number(line),
    column: Number(column),
  };
}

/** How much of the maps of a recording may still be read. */
class Allowance {
  #scripts = MOST_SCRIPTS;
  #time = MOST_TIME;
  #mappings = MOST_MAPPINGS;

  /** The map of a script, if it can be had. What is wrong with it is no fault of the recording. */
  read(script: string, root: string, until: number): ScriptMap | null {
    const path = pathOfUrl(script) ?? '';
    if (!isAbsolute(path) || this.#time <= 0 || this.#mappings <= 0) return null;
    if (this.#scripts-- <= 0) return null;
    const before = performance.now();
    try {
      const map = ScriptMap.of(path, root, until);
      this.#mappings -= map?.size ?? 0;
      return map ?? null;
    } catch {
      return null;
    } finally {
      this.#time -= performance.now() - before;
    }
  }
}

/** The compiled scripts of a process, which lie below one directory. */
class CompiledProgram implements OriginalCode {
  readonly #root: string;
  readonly #until: number;
  readonly #allowance: Allowance;
  readonly #maps = new Map<string, ScriptMap | null>();
  readonly #lines = new BoundedCache(KNOWN_LINES, MOST_LINE, (line) => this.#frame(line, false));
  /** Lines of a profile: where functions begin. */
  readonly #functions = new BoundedCache(KNOWN_LINES, MOST_LINE, (line) => this.#frame(line, true));

  /** @param until ms since 1970, when the process began: it has read its scripts later. */
  constructor(root: string, until: number, allowance: Allowance) {
    this.#root = root;
    this.#until = until;
    this.#allowance = allowance;
  }

  stack(stack: string): string {
    const lines = stack.split('\n');
    return lines.map((line, i) => (i < MOST_LINES ? this.#lines.of(line) : line)).join('\n');
  }

  profile(part: ProfilePart): ProfilePart {
    const frames = part.frames.map((frame) => this.#functions.of(frame));
    const lines = part.lines.flatMap((each) => {
      const number = part.nodes[each.node]!;
      if (frames[number] === part.frames[number]) return each;
      // A line of which only a part is the function's says nothing.
      const found = this.#mapOf(partsOf(part.frames[number]!)!.script)!.lineOf(each.line);
      if (found?.source !== partsOf(frames[number]!)?.script) return [];
      return { ...each, line: found!.line };
    });
    return { ...part, frames, lines };
  }

  /** @param isFunction it is where the function begins, after its name. */
  #frame(frame: string, isFunction: boolean): string {
    const parts = partsOf(frame);
    if (parts === undefined) return frame;
    const { line, column, after } = parts;
    const position = this.#mapOf(parts.script)?.positionOf(line, column);
    if (position === undefined) return frame;
    let { before } = parts;
    if (isFunction && position.name !== undefined && after !== '') {
      const [, path = '', name = ''] = /^at (.*?\.)?([\w$#]+) \($/.exec(before) ?? [];
      if (name !== '' && position.from + name.length === column)
        before = `at ${path}${position.name} (`;
    }
    return `${before}${position.source}:${position.line}:${position.column}${after}`;
  }

  #mapOf(script: string): ScriptMap | null {
    return entryOf(this.#maps, script, () => this.#allowance.read(script, this.#root, this.#until));
  }
}

/** The programs of the processes of an index. */
export class CompiledPrograms {
  readonly #programs = new Map<string, CompiledProgram | null>();
  readonly #allowance = new Allowance();

  /** Undefined: its sources are not known, as it ran elsewhere, or nobody knows where it lies. */
  of(
    source: Pick<Source, 'host' | 'epoch' | 'lived'>,
    resource: RecordedResource | undefined,
  ): OriginalCode | undefined {
    const command = textIn(resource?.attributes ?? {}, 'process.command');
    if (command === undefined || source.host !== hostname()) return undefined;
    const begun = Number(source.epoch) / 1e6 + (source.lived?.begin ?? 0) / 1e6;
    const program = entryOf(this.#programs, `${begun} ${command}`, () => {
      const root = rootOf(command);
      return root === undefined ? null : new CompiledProgram(root, begun, this.#allowance);
    });
    return program ?? undefined;
  }
}

/** The directory of the program's package.json, else that of the program; undefined: there is none. */
function rootOf(command: string): string | undefined {
  const [before] = command.split(`${sep}node_modules${sep}`, 1);
  const directory = before === command ? dirname(command) : before!;
  if (!isAbsolute(directory)) return undefined;
  try {
    const program = realpathSync(directory);
    for (let at = program; at !== dirname(at); at = dirname(at)) {
      if (existsSync(join(at, 'package.json'))) return at;
    }
    return program === sep ? undefined : program;
  } catch {
    return undefined;
  }
}
