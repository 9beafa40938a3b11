import { createMuster } from '../../api/index.ts';
import { UsageError } from '../../base/errors.ts';
import type { Environment } from '../../sys/env.ts';
import type { CommandContext } from './command.ts';
import { type RunOptions, type PromptOptions, NO_PROMPT } from './run-options.ts';
import { musterOptions, runPrompt } from './run-prompt.ts';

/** Opens the terminal UI. Without a terminal it continues a conversation, or prints the help. */
export async function runInteractive(
  { run, hasFlags }: PromptOptions,
  { environment, help, out }: CommandContext,
): Promise<number> {
  if (process.stdin.isTTY === true && process.stdout.isTTY === true) {
    return openUi(run, environment);
  }
  if (run.resume !== null) return runPrompt(run);
  if (hasFlags) throw new UsageError(NO_PROMPT);
  out(await help());
  return 0;
}

async function openUi(run: RunOptions, environment: Environment): Promise<number> {
  const { maxTurns, agent, resume } = run;
  const notices: string[] = [];
  let addNotice = (line: string): void => void notices.push(line);
  const [muster, open] = await Promise.all([
    musterOptions(run).then((session) =>
      createMuster({
        ...session,
        ...(maxTurns === null ? {} : { maxTurns }),
        // A conversation can only continue in its log.
        ...(resume === null ? {} : { log: true }),
        questions: 'wait',
        attended: true,
        // Draw the screen first: what preloading prepares is needed only after the user has typed a message.
        preload: false,
        onNotice: (line) => addNotice(line),
      }),
    ),
    loadUi(run.screenReader || wantsPlainLines(environment)),
  ]);
  try {
    return await open(muster, {
      agent,
      resume,
      notices,
      onOpened: (listener) => {
        addNotice = listener;
      },
    });
  } finally {
    await muster.close();
  }
}

/** Whether the user asked for plain lines, or the terminal cannot show a screen. */
function wantsPlainLines({ MUSTER_SCREEN_READER: wanted = '', TERM }: Environment): boolean {
  return (wanted !== '' && wanted !== '0') || TERM === 'dumb';
}

async function loadUi(isPlain: boolean) {
  return isPlain
    ? (await import('../tui/plain/run-plain.ts')).runPlain
    : (await import('../tui/tui.ts')).runTui;
}
