/**
 * An ESLint rule: which folder of src may import which. The table itself is in eslint.config.js.
 */
import { dirname, posix, relative } from 'node:path';

/** Folders inside a format, and what each may import of the same format. '' is its root. */
const PARTS = {
  '': [''],
  write: ['', 'write'],
  read: ['', 'read'],
  workers: ['', 'write', 'workers'],
};

function placeOf(path) {
  const [layer, ...rest] = path.split('/');
  return { layer, part: rest.length > 1 ? rest[0] : '', file: rest.at(-1) ?? '' };
}

function isInFunction(node) {
  for (let at = node.parent; at; at = at.parent) if (/Function/.test(at.type)) return true;
  return false;
}

const rule = {
  meta: {
    type: 'problem',
    schema: [
      {
        type: 'object',
        properties: {
          /** Folder of src: the other folders that it may import. */
          layers: { type: 'object' },
          /** The folders of which read/, write/ and workers/ are kept apart. */
          formats: { type: 'array' },
        },
        required: ['layers', 'formats'],
        additionalProperties: false,
      },
    ],
    messages: {
      layer: 'src/{{from}} must not import src/{{to}}; see the table of layers in eslint.config.js',
      part: '{{from}} of a format must not import its {{to}}',
      unknown: 'src/{{layer}} is missing in the table of layers in eslint.config.js',
    },
  },
  create(context) {
    const [{ layers, formats }] = context.options;
    const source = posix.join(context.cwd, 'src');
    const here = placeOf(relative(source, context.filename));

    function check(node, specifier, isLate) {
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return;
      const target = relative(source, posix.join(dirname(context.filename), specifier));
      const there = placeOf(target);
      if (layers[here.layer] === undefined) {
        context.report({ node, messageId: 'unknown', data: here });
        return;
      }
      if (there.layer !== here.layer) {
        if (layers[here.layer].includes(there.layer)) return;
        context.report({ node, messageId: 'layer', data: { from: here.layer, to: there.layer } });
        return;
      }
      if (!formats.includes(here.layer)) return;
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

export default { rules: { imports: rule } };
