import { resolve } from 'node:path';
import { createMuster } from '../../../api/muster.ts';
import { UsageError } from '../../../base/errors.ts';
import { readEnvironment, type Environment } from '../../../sys/env.ts';
import { printText } from '../../../sys/print.ts';
import { NO_PROMPT } from '../args.ts';
import type { InteractiveCommand, RunCommand } from '../command.ts';
import { runPrompt, sessionAgents } from './run.ts';

/** `muster`: the terminal UI. Without a terminal the help, or a conversation that goes on by itself. */
export async function interactiveCommand({ run, hasFlags }: InteractiveCommand): Promise<number> {
  if (process.stdin.isTTY === true && process.stdout.isTTY === true) return openUi(run);
  if (run.resume !== null) return runPrompt(run);
  if (hasFlags) throw new UsageError(NO_PROMPT);
  printText((await import('../help.ts')).helpText('program'));
  return 0;
}

async function openUi(run: RunCommand): Promise<number> {
  const { cwd, addDirs, dataDir, log, trustProject, flags, agents, maxTurns, agent, resume } = run;
  const notices: string[] = [];
  let hear = (line: string): void => void notices.push(line);
  const isPlain = run.screenReader || wantsLines(readEnvironment());
  const [muster, open] = await Promise.all([
    createMuster({
      cwd: resolve(cwd ?? '.'),
      addDirs: addDirs.map((path) => resolve(path)),
      ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
      log,
      trustProject,
      flags,
      agents: agents === null ? [] : await sessionAgents(agents),
      ...(maxTurns === null ? {} : { maxTurns }),
      questions: 'wait',
      attended: true,
      // The screen comes first: nobody has typed anything yet.
      preload: false,
      onNotice: (line) => hear(line),
    }),
    isPlain ? openPlain() : openScreen(),
  ]);
  try {
    return await open(muster, {
      agent,
      resume,
      isLogged: log,
      notices,
      onOpened: (listener) => {
        hear = listener;
      },
    });
  } finally {
    await muster.close();
  }
}

/** A dumb terminal can show no screen. */
function wantsLines({ MUSTER_SCREEN_READER: wish = '', TERM }: Environment): boolean {
  return (wish !== '' && wish !== '0') || TERM === 'dumb';
}

async function openScreen() {
  const { runTui } = await import('../../tui/tui.ts');
  return runTui;
}

async function openPlain() {
  const { runPlain } = await import('../../tui/plain/run-plain.ts');
  return runPlain;
}
