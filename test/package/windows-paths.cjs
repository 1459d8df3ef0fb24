// Loaded before the command (`node --require`): paths are those of Windows, on the file system of this
// machine. `C:\a\b` is /a/b, and `\\server\share\b` is /b.

const fs = require('node:fs');
const { win32 } = require('node:path');
const threads = require('node:worker_threads');

const RESERVED = /[<>:"|?*]/;

/** Where a path of Windows lies here. It throws for what Windows would refuse. */
function here(path) {
  if (typeof path !== 'string') return path;
  const inside = path.replace(/^\\\\[^\\/]+[\\/][^\\/]+(?=[\\/])|^[a-zA-Z]:(?=[\\/])/, '');
  if (RESERVED.test(inside)) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
  return inside.replaceAll('\\', '/');
}

const there = (path) => `C:${path.replaceAll('/', '\\')}`;

const files = { ...fs };
for (const [name, value] of Object.entries(fs)) {
  if (typeof value !== 'function' || /^[A-Z_]/.test(name)) continue;
  const takesTwo = /^(rename|copyFile|link|cp)/.test(name);
  files[name] = (...given) => {
    const args = given.map((value, at) =>
      at === 0 || (at === 1 && takesTwo) ? here(value) : value,
    );
    return value.apply(fs, args);
  };
}
files.realpathSync = (path) => there(fs.realpathSync(here(path)));
files.mkdtempSync = (prefix) => there(fs.mkdtempSync(here(prefix)));

class Worker extends threads.Worker {
  constructor(code, options) {
    const workerData = here(options.workerData);
    super(code, { ...options, workerData, execArgv: ['--require', module.filename] });
  }
}

const replaced = { path: win32, fs: files, worker_threads: { ...threads, Worker } };
const builtin = process.getBuiltinModule;
process.getBuiltinModule = (name) => replaced[name.replace(/^node:/, '')] ?? builtin(name);
const cwd = there(process.cwd());
// Node itself needs its own in a worker thread.
if (threads.isMainThread) process.cwd = () => cwd;
