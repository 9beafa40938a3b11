import { resolve } from 'node:path';
import { UsageError } from '../../../base/errors.ts';
import { printText } from '../../../sys/print.ts';
import { NO_PROMPT } from '../args.ts';
import type { InteractiveCommand } from '../command.ts';
import { runPrompt, sessionAgents } from './run.ts';

/** `muster`: the terminal UI. Without a terminal the help, or a conversation that goes on by itself. */
export async function interactiveCommand({ run, hasFlags }: InteractiveCommand): Promise<number> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (!isTerminal && run.resume !== null) return runPrompt(run);
  if (!isTerminal && hasFlags) throw new UsageError(NO_PROMPT);
  if (!isTerminal) {
    printText((await import('../help.ts')).helpText('program'));
    return 0;
  }
  const { cwd, addDirs, dataDir, log, trustProject, flags, agents, maxTurns, agent, resume } = run;
  const { runTui } = await import('../../tui/tui.ts');
  return runTui({
    options: {
      cwd: resolve(cwd ?? '.'),
      addDirs: addDirs.map((path) => resolve(path)),
      ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
      log,
      trustProject,
      flags,
      agents: agents === null ? [] : await sessionAgents(agents),
      ...(maxTurns === null ? {} : { maxTurns }),
    },
    agent,
    resume,
  });
}
