import type { ShellParser, SimpleCommand } from '../parsed-line.ts';
import { findInnerRuns } from './find-inner-runs.ts';

const MAX_INNER = 500;

/** The other commands that a command may run. */
export interface InnerCommands {
  readonly commands: readonly SimpleCommand[];
  /** Whether it may run something that the line doesn't show. */
  readonly isIncomplete: boolean;
}

/**
 * Every command that this one is told to run, and that those are told to run in turn. Past a number that no honest
 * line reaches, the rest is unknown.
 */
export function listInnerCommands(command: SimpleCommand, parser: ShellParser): InnerCommands {
  const commands: SimpleCommand[] = [];
  const waiting = [command];
  let unsure = false;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [program] = next.words;
    if (program === undefined) continue;
    if (program.value === null || commands.length > MAX_INNER)
      return { commands, isIncomplete: true };
    for (const run of findInnerRuns(next, parser)) {
      commands.push(...run.commands);
      waiting.push(...run.commands);
      unsure ||= run.visible === 'none';
    }
  }
  return { commands, isIncomplete: unsure };
}
