/** How pm2 starts a program: the program itself is in its environment. */
const PM2 = /[\\/]pm2[\\/]lib[\\/]ProcessContainer\w*\.js$/;

/** The script that the process runs, as its starter has named it; undefined: there is none. */
export function programPath(): string | undefined {
  const script = process.argv[1];
  // pm2 sets it before it loads the program, and the hook before that: node/enabled.ts.
  return script !== undefined && PM2.test(script) ? process.env['pm_exec_path'] || script : script;
}
