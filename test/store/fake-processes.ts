import type { ProcessPort } from '../../src/store/locks/process-identity.ts';

/** Creates a port to processes from a table of start times by pid. A process that is not in the table is gone. */
export function fakeProcesses(
  self: { readonly pid: number; readonly startTime?: number; readonly bootId?: string | null },
  running: ReadonlyMap<number, number | null> = new Map(),
): ProcessPort {
  const { pid, startTime = 100, bootId = 'boot-1' } = self;
  return {
    self: () => ({ pid, startTime, bootId, host: 'here' }),
    startTime: (other) => (other === pid ? startTime : running.get(other)),
  };
}
