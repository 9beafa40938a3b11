import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** The machine and its load. Values taken on different machines or under different load cannot be compared. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** The load average of the last minute. It includes the benchmark itself. */
  readonly load: number;
}

export function describeMachine(): Machine {
  return {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    load: loadavg()[0] ?? Number.NaN,
  };
}

export function machineLine({ node, platform, cpu, cores, memoryGb, load }: Machine): string {
  return `Node ${node}, ${platform}, ${cores} × ${cpu}, ${memoryGb} GB, load ${load.toFixed(2)}`;
}
