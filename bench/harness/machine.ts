import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** Where and under what load figures were taken: without it they can't be compared. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Programs that wanted to run, the mean of the last minute, the benchmark's own counted. */
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
