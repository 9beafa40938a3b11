import { setTimeout as sleep } from 'node:timers/promises';
import { programPath, type RunningProgram } from './program.ts';

/** Arguments of Node that let a program of any kind report on itself. */
export const PROBED = ['--expose-gc', '--require', programPath('probe.cjs')];

/** What a program used in all; after its end. */
export function exitReport(program: RunningProgram): {
  readonly peakMb: number;
  readonly cpuMs: number;
} {
  const [peakMb] = reported(program, 'peakMb');
  const [cpuMs] = reported(program, 'cpuMs');
  if (peakMb === undefined || cpuMs === undefined) throw new Error('the probe reported no exit');
  return { peakMb, cpuMs };
}

/** Has a running program collect its garbage; resolves to the bytes of heap and external memory left. */
export async function heapAfterCollection(program: RunningProgram): Promise<number> {
  const ended = program.finished.then(() => 'ended' as const);
  const before = reported(program, 'heapBytes').length;
  process.kill(program.pid, 'SIGUSR2');
  for (;;) {
    const heapBytes = reported(program, 'heapBytes')[before];
    if (heapBytes !== undefined) return heapBytes;
    if ((await Promise.race([sleep(10), ended])) === 'ended') {
      throw new Error('the program ended before it reported its heap');
    }
  }
}

/** The values of that name in what the probe has written, one JSON object a line. */
function reported(program: RunningProgram, name: string): readonly number[] {
  const text = program.reported();
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole.split('\n').flatMap((line) => {
    const value: unknown = line === '' ? undefined : JSON.parse(line)[name];
    return typeof value === 'number' ? [value] : [];
  });
}
