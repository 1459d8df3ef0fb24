// The options of a command: `--help` prints its usage, and so does what is wrong, after an error.

import { parseArgs } from 'node:util';

/** @typedef {{ type: 'string' | 'boolean', default?: string | boolean }} Option */

/**
 * @param {string} usage
 * @param {Record<string, Option>} options one with a number as its default takes numbers only.
 * @param {(values: Record<string, any>) => string | undefined} faultOf what else is wrong.
 * @returns {Record<string, any>} the values. The process ends without them.
 */
export function readOptions(usage, options, faultOf = () => undefined) {
  let fault;
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    fault = wrongNumber(options, values) ?? faultOf(values);
    if (fault === undefined) return values;
  } catch (error) {
    fault = error.message;
  }
  process.stderr.write(`${fault}\n\n${usage}`);
  process.exit(2);
}

function wrongNumber(options, values) {
  for (const [name, { default: usual }] of Object.entries(options)) {
    const value = values[name];
    if (/^\d+$/.test(String(usual)) && (value === '' || !(Number(value) >= 0))) {
      return `--${name} must be a number, got ${value}`;
    }
  }
  return undefined;
}
