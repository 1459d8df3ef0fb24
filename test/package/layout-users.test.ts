import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preProcessFile } from 'typescript';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('../../src', import.meta.url));
const LAYOUT = 'heph/layout.ts';

/** The files that import constants of Heph's layout, by constant. */
function usersOfLayout(): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(join(source, file), 'utf8');
    const { importedFiles } = preProcessFile(text, true);
    for (const { fileName } of importedFiles) {
      const target = join(file, '..', fileName).replace(/\.js$/, '.ts');
      if (!fileName.startsWith('.') || target !== LAYOUT) continue;
      const [, names = ''] = new RegExp(`\\{([^{}]*)\\} from '${fileName}'`).exec(text) ?? [];
      for (const name of names.split(',').map((each) => each.trim())) {
        users.set(name, (users.get(name) ?? new Set()).add(file));
      }
    }
  }
  return users;
}

// Who else writes or reads these bytes asks one of those files: encoder, compiled text, decoder, scan.
it.each([
  ['the first bytes of an event', /^EVENT_MAGIC$/, 5],
  ['where its name lies', /^DESCRIPTION_OFFSET$/, 7],
  ['the types of its attributes', /^TYPE_/, 3],
])('at most a few files know %s', (_, name, most) => {
  const files = new Set(
    [...usersOfLayout()].flatMap(([each, users]) => (name.test(each) ? [...users] : [])),
  );
  expect(files.size).toBeGreaterThan(1);
  expect([...files].length, [...files].join('\n')).toBeLessThanOrEqual(most);
});
