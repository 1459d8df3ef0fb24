import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const native = fileURLToPath(new URL('../../native', import.meta.url));

/** Each folder includes itself and those before it. */
const FOLDERS = ['clock', 'file', 'process', 'ring', 'loop', 'drain', 'sink', 'addon'];

interface Include {
  readonly file: string;
  readonly included: string;
}

function includesIn(folder: string): Include[] {
  return readdirSync(join(native, folder)).flatMap((name) => {
    const text = readFileSync(join(native, folder, name), 'utf8');
    return [...text.matchAll(/^#include "([^"]+)"/gm)].map(([, included]) => ({
      file: `${folder}/${name}`,
      included: included!,
    }));
  });
}

function folderOf(file: string): string {
  return file.slice(0, file.indexOf('/'));
}

function upwards({ file, included }: Include): boolean {
  const to = FOLDERS.indexOf(folderOf(included));
  return to === -1 || to > FOLDERS.indexOf(folderOf(file));
}

/** A source file and its header are one unit. */
function unitOf(file: string): string {
  return file.replace(/\.(cc|h)$/, '');
}

function circleFrom(unit: string, graph: ReadonlyMap<string, Set<string>>): string | undefined {
  const path: string[] = [];
  const seen = new Set<string>();
  const visit = (at: string): boolean => {
    if (at === unit && path.length > 0) return true;
    if (seen.has(at)) return false;
    seen.add(at);
    path.push(at);
    if ([...(graph.get(at) ?? [])].some(visit)) return true;
    path.pop();
    return false;
  };
  return visit(unit) ? [...path, unit].join(' -> ') : undefined;
}

function graphOf(includes: readonly Include[]): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { file, included } of includes) {
    const [from, to] = [unitOf(file), unitOf(included)];
    if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  return graph;
}

const includes = FOLDERS.flatMap(includesIn);

it('a circle and an include upwards are found', () => {
  const pair = [
    { file: 'ring/ring.cc', included: 'sink/sink.h' },
    { file: 'sink/sink.h', included: 'ring/ring.h' },
  ];
  expect(pair.filter(upwards)).toEqual([pair[0]]);
  expect(circleFrom('ring/ring', graphOf(pair))).toBe('ring/ring -> sink/sink -> ring/ring');
});

it('native folders include each other in one direction', () => {
  expect(includes.length).toBeGreaterThan(100);
  expect(includes.filter(upwards)).toEqual([]);
});

it('no native unit includes itself by way of others', () => {
  const graph = graphOf(includes);
  expect([...graph.keys()].map((unit) => circleFrom(unit, graph)).filter(Boolean)).toEqual([]);
});
