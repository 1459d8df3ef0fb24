/**
 * The rules of this repository: which file of src may import which, and words that are not used. .oxlintrc.json names
 * this file.
 */
import { dirname, posix, relative } from 'node:path';
import { FORMATS } from './package-layout.mjs';

const RECORDER = ['core', ...FORMATS];

/** What each folder of src may import besides itself. Nothing imports upward. */
const LAYERS = {
  core: [],
  // What a format offers to those who read traces of any format: read/ alone imports it.
  rows: ['core'],
  ...Object.fromEntries(FORMATS.map((format) => [format, ['core', 'rows']])),
  spans: ['core', 'rows', 'heph'],
  otel: ['core', 'spans'],
  libraries: ['core', 'spans'],
  // Finds traces of any format, and shows spans as what they are.
  traces: [...RECORDER, 'rows', 'spans'],
  // The hook.
  node: [...RECORDER, 'spans', 'otel', 'libraries'],
  // Index and report: readers only.
  look: [...RECORDER, 'rows', 'spans', 'traces'],
  // What other programs read: of readers' rows and spans, and look's conditions.
  export: ['core', 'rows', 'spans', 'traces', 'look'],
  // Sends what is recorded: readers and encoders only.
  ship: ['core', 'heph', 'spans', 'export'],
  // The page of `tracewright view`, in a browser: what its server sends, and nothing of Node.
  page: ['look'],
  cli: [...RECORDER, 'rows', 'traces', 'spans', 'node', 'look', 'export', 'ship'],
};

/** Folders inside a format, and what each may import of the same format. '' is its root. */
const PARTS = {
  '': [''],
  write: ['', 'write'],
  read: ['', 'read'],
  workers: ['', 'write', 'workers'],
};

/** The rooms of a folder, bottom first: each imports only those before it. */
const ROOMS = {
  'look/index': ['parts', 'sources', 'cache', 'build', 'serve'],
  'look/report': [
    'shape',
    'measures',
    'names',
    'recording',
    'threads',
    'trees',
    'groups',
    'errors',
    'slow',
    'mpi',
    'print',
    'findings',
  ],
};
/** Building an index and serving it know nothing of each other. */
const APART = [
  ['look/index/serve', 'look/index/cache'],
  ['look/index/serve', 'look/index/build'],
];

/** The native object belongs to src/core, which has a typed file for each subject. */
const NATIVE = /^core\/(?:load-)?addon\.js$/;

function partsOf(path) {
  const [layer, ...rest] = path.split('/');
  return { layer, part: rest.length > 1 ? rest[0] : '', file: rest.at(-1) ?? '' };
}

function isInFunction(node) {
  for (let at = node.parent; at; at = at.parent) if (/Function/.test(at.type)) return true;
  return false;
}

/** What is wrong with an import of a room by another one of its folder, or by the folder's own files. */
function roomFault(here, target) {
  for (const [folder, rooms] of Object.entries(ROOMS)) {
    if (!here.startsWith(`${folder}/`) || !target.startsWith(`${folder}/`)) continue;
    const [from, rest] = here.slice(folder.length + 1).split('/');
    const [to, file] = target.slice(folder.length + 1).split('/');
    if (rest === undefined) return undefined;
    if (file === undefined) {
      // The report itself is above its rooms. `print` makes a page of it.
      const isAbove = to === 'report.js' && from !== 'print';
      return isAbove ? [from, to] : undefined;
    }
    const isApart = APART.some(([a, b]) => a === `${folder}/${from}` && b === `${folder}/${to}`);
    if (isApart || rooms.indexOf(to) > rooms.indexOf(from)) return [from, to];
  }
  return undefined;
}

const imports = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      layer:
        'src/{{from}} must not import src/{{to}}; see the table of layers in scripts/lint-rules.mjs',
      part: '{{from}} of a format must not import its {{to}}',
      room: '{{from}} must not import {{to}}, a later room',
      native: 'the native object belongs to src/core, which has a typed file for each subject',
      unknown: 'src/{{layer}} is missing in the table of layers in scripts/lint-rules.mjs',
    },
  },
  create(context) {
    const source = posix.join(context.cwd, 'src');
    const path = relative(source, context.filename);
    const here = partsOf(path);

    function check(node, specifier, isLate) {
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return;
      const target = relative(source, posix.join(dirname(context.filename), specifier));
      const there = partsOf(target);
      if (LAYERS[here.layer] === undefined) {
        context.report({ node, messageId: 'unknown', data: { layer: here.layer } });
        return;
      }
      if (there.layer !== here.layer) {
        if (!LAYERS[here.layer].includes(there.layer)) {
          context.report({ node, messageId: 'layer', data: { from: here.layer, to: there.layer } });
        } else if (NATIVE.test(target) && !isLate) context.report({ node, messageId: 'native' });
        return;
      }
      const fault = roomFault(path, target);
      if (fault !== undefined) {
        context.report({ node, messageId: 'room', data: { from: fault[0], to: fault[1] } });
      }
      if (!FORMATS.includes(here.layer)) return;
      // The public face of a format imports all of it.
      if (here.part === '' && here.file === 'index.ts') return;
      if (PARTS[here.part]?.includes(there.part)) return;
      // Opening a trace recovers what a dead process left; that is loaded when it is needed.
      if (isLate && there.file === 'recover.js' && isInFunction(node)) return;
      const named = (part) => (part === '' ? 'the root' : `${part}/`);
      const data = { from: named(here.part), to: named(there.part) };
      context.report({ node, messageId: 'part', data });
    }

    const ofStatement = (node) => {
      check(node, node.source?.value, false);
    };
    return {
      ImportDeclaration: ofStatement,
      ExportNamedDeclaration: ofStatement,
      ExportAllDeclaration: ofStatement,
      ImportExpression(node) {
        check(node, node.source.value, true);
      },
      CallExpression(node) {
        if (node.callee.name === 'require') check(node, node.arguments[0]?.value, true);
      },
    };
  },
};

/** `place` says nothing of what is meant. docs/architecture.md has a word for each thing: slot, offset, position, path. */
const WORD =
  /(?<![A-Za-z])[pP]laces?(?![a-z])|(?<=[a-z#])Places?(?![a-z])|(?<![A-Z])PLACES?(?![A-Z])/g;
/** English for "instead of" and "as it is", and names that native code has. */
const ALLOWED =
  /\b(?:in|the) place of\b|\b(?:is)?[iI]nPlace\b|\b(?:mostO|o)penPlaces\b|\boptions\.places\b|\bplaces: slots\b/g;

const place = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { vague: '`{{word}}` has a better name: slot, offset, position, path, rank …' },
  },
  create(context) {
    return {
      Program() {
        const { text } = context.sourceCode;
        const checked = text.replaceAll(ALLOWED, (allowed) => ' '.repeat(allowed.length));
        for (const { 0: word, index } of checked.matchAll(WORD)) {
          const start = context.sourceCode.getLocFromIndex(index);
          const loc = { start, end: start };
          context.report({ loc, messageId: 'vague', data: { word } });
        }
      },
    };
  },
};

const literalNames = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { slow: 'V8 is slow with computed names: see engine/attribute-names.ts' },
  },
  create(context) {
    return {
      'ObjectExpression > Property[computed=true]'(node) {
        context.report({ node, messageId: 'slow' });
      },
    };
  },
};

export default {
  meta: { name: 'house' },
  rules: { imports, place, 'literal-names': literalNames },
};
