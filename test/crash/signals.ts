import { readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Running, Sandbox } from '../e2e/muster.ts';
import type { KillMoment, MomentKind } from './kill-plan.ts';
import { COUNTER } from './scenario.ts';

/** Counts what comes. */
export class Signal {
  count = 0;
  private onCome: (count: number) => void = () => {};

  /** Begins at 0 again, for another listener. */
  restart(onCome: (count: number) => void): void {
    this.count = 0;
    this.onCome = onCome;
  }

  readonly come = (): void => {
    this.count += 1;
    this.onCome(this.count);
  };
}

type Signals = Readonly<Record<Exclude<MomentKind, 'time'>, Signal>>;

/** Kills when the moment comes. Returns what takes the order back. */
export function killAt(
  moment: KillMoment | null,
  kill: () => void,
  signals: Signals,
): readonly (() => void)[] {
  // Of the process before.
  signals.request.restart(() => {});
  if (moment === null) return [];
  if (moment.kind === 'time') return [after(moment.ms, kill)];
  const laterMs = moment.kind === 'request' ? moment.laterMs : 0;
  const orders: (() => void)[] = [];
  signals[moment.kind].restart((count) => {
    if (count !== moment.count) return;
    if (laterMs === 0) kill();
    else orders.push(after(laterMs, kill));
  });
  return [() => orders.forEach((takeBack) => takeBack())];
}

/** Returns what takes it back. */
export function after(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}

/** Of its stdout. Each `count…` returns what ends it. */
export function countLines({ process }: Running, line: Signal): () => void {
  const count = (text: string): void => {
    for (const char of text) if (char === '\n') line.come();
  };
  process.stdout?.on('data', count);
  return () => process.stdout?.off('data', count);
}

/** Of a directory, as far as the system tells them apart. */
export function countChanges(path: string, change: Signal): () => void {
  const watcher = watch(path, change.come);
  return () => watcher.close();
}

/** That commands have left since it began to count. */
export function countTokens({ workspace }: Sandbox, effect: Signal): () => void {
  const path = join(workspace, COUNTER);
  const tokens = (): number => readFileSync(path, 'utf8').split('\n').length - 1;
  const before = tokens();
  const watcher = watch(path, () => {
    for (const now = tokens(); effect.count < now - before;) effect.come();
  });
  return () => watcher.close();
}
