// Builds the page of `tracewright view`: src/page/ becomes a few static files, which dist/page/ holds.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root, source } from './package-layout.mjs';

const page = join(source, 'page');

/** @returns {Promise<Map<string, string>>} contents by name. */
export async function buildPage() {
  const { outputFiles } = await build({
    entryPoints: {
      page: join(page, 'main.tsx'),
      report: join(page, 'report.tsx'),
      style: join(page, 'theme', 'style.css'),
    },
    bundle: true,
    minify: true,
    write: false,
    outdir: 'page',
    format: 'esm',
    platform: 'browser',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    logLevel: 'warning',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    absWorkingDir: root,
  });
  const files = new Map(outputFiles.map(({ path, text }) => [path.replace(/^.*[\\/]/, ''), text]));
  for (const name of ['index.html', 'icon.svg']) {
    files.set(name, readFileSync(join(page, name), 'utf8'));
  }
  return files;
}
