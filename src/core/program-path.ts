/** How pm2 starts a program: the program itself is in its environment. */
const PM2 = /[\\/]pm2[\\/]lib[\\/]ProcessContainer\w*\.js$/;

/** The script that the process runs, as its starter has named it; undefined: there is none. */
export function programPath(): string | undefined {
  const script = process.argv[1];
  return script !== undefined && PM2.test(script) ? (scriptOfPm2() ?? script) : script;
}

function scriptOfPm2(): string | undefined {
  const { pm_exec_path: path, pm2_env: all } = process.env;
  if (path !== undefined && path !== '') return path;
  try {
    const { pm_exec_path: script } = JSON.parse(all ?? '{}') as { pm_exec_path?: unknown };
    return typeof script === 'string' && script !== '' ? script : undefined;
  } catch {
    return undefined;
  }
}
