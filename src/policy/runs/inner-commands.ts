import type { ShellParser, SimpleCommand } from '../shell-parser.ts';
import { runsOf } from './runs-of.ts';

const MAX_INNER = 500;

/** The other commands that a command may run. */
export interface InnerCommands {
  readonly commands: readonly SimpleCommand[];
  /** Whether it may run something that the line doesn't show. */
  readonly unsure: boolean;
}

/**
 * Every command that this one is told to run, and that those are told to run in turn. Past a number that no honest
 * line reaches, the rest is unknown.
 */
export function innerCommands(command: SimpleCommand, parser: ShellParser): InnerCommands {
  const commands: SimpleCommand[] = [];
  const waiting = [command];
  let unsure = false;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [program] = next.words;
    if (program === undefined) continue;
    if (program.value === null || commands.length > MAX_INNER) return { commands, unsure: true };
    for (const run of runsOf(next, parser)) {
      commands.push(...run.commands);
      waiting.push(...run.commands);
      unsure ||= run.shown === 'none';
    }
  }
  return { commands, unsure };
}
