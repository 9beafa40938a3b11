import { setTimeout as sleep } from 'node:timers/promises';
import { programPath, type RunningProgram } from './program.ts';

/** The arguments of Node that make any program report its memory and CPU time (see `probe.cjs`). */
export const PROBE_ARGS = ['--expose-gc', '--require', programPath('probe.cjs')];

/** The peak memory and the CPU time of a program that has ended. Throws when it reported neither. */
export function readExitReport(program: RunningProgram): {
  readonly peakMb: number;
  readonly cpuMs: number;
} {
  const [peakMb] = reportedValues(program, 'peakMb');
  const [cpuMs] = reportedValues(program, 'cpuMs');
  if (peakMb === undefined || cpuMs === undefined) throw new Error('the probe reported no exit');
  return { peakMb, cpuMs };
}

/** Makes a running program collect its garbage. Resolves to the bytes of heap and external memory then in use. */
export async function measureHeap(program: RunningProgram): Promise<number> {
  const ended = program.finished.then(() => 'ended' as const);
  const before = reportedValues(program, 'heapBytes').length;
  process.kill(program.pid, 'SIGUSR2');
  for (;;) {
    const heapBytes = reportedValues(program, 'heapBytes')[before];
    if (heapBytes !== undefined) return heapBytes;
    if ((await Promise.race([sleep(10), ended])) === 'ended') {
      throw new Error('the program ended before it reported its heap');
    }
  }
}

/** The values with this name among the lines that the probe has written, each of which is a JSON object. */
function reportedValues(program: RunningProgram, name: string): readonly number[] {
  const text = program.reported();
  const completeLines = text.slice(0, text.lastIndexOf('\n') + 1);
  return completeLines.split('\n').flatMap((line) => {
    const value: unknown = line === '' ? undefined : JSON.parse(line)[name];
    return typeof value === 'number' ? [value] : [];
  });
}
