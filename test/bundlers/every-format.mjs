// A program that writes a trace of each format, and what these must contain.

export const everyFormat = `
  import * as dumpi from 'tracewright/dumpi';
  import * as laplace from 'tracewright/laplace';
  import * as ovni from 'tracewright/ovni';
  import { openTrace, readPackets } from 'tracewright/heph';
  const trace = openTrace('own.heph');
  const stream = trace.stream();
  const work = stream.span('work', { number: 'u64', name: 'string' });
  for (let i = 0; i < 1000; i++) work.finish(stream.startTrace(), i, 'name');
  await trace.flush();
  await trace.close();
  if ([...readPackets('own.heph')].length !== 1001) throw new Error('reader');
  ovni.procInit(1, 'node.1', 1, { traceDir: 'ovni', version: 3 });
  ovni.threadInit(1);
  ovni.addCpu(0, 0);
  ovni.event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 1, 0);
  for (let i = 0; i < 1000; i++) ovni.emit('OB.');
  ovni.event('OHe')();
  ovni.threadFree();
  ovni.procFini();
  const rank = dumpi.openRank({ rank: 0, size: 1, directory: 'ranks' });
  for (let i = 0; i < 1000; i++) rank.log('MPI_Barrier', { comm: dumpi.Comm.WORLD });
  rank.close();
  const references = laplace.openReferences('run.references');
  for (let i = 0; i < 1000; i++) references.load(BigInt(i), 4, 1, 16);
  references.close();`;

/** Checks what a run of it has recorded. */
export function expectEveryFormat(project) {
  for (const [trace, pattern] of [
    ['own.heph', /\bwork\b/g],
    ['ovni', /\bOB\./g],
    ['ranks', /MPI_Barrier/g],
    ['run.references', /\n./g],
  ]) {
    const count = project.count(trace, pattern);
    if (count < 1000) throw new Error(`${trace} has ${count} records`);
  }
}
