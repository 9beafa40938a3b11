import { createMuster, type Muster } from '../../api/index.ts';
import { UsageError } from '../../base/errors.ts';
import type { Environment } from '../../sys/env.ts';
import type { CommandContext } from './command.ts';
import { type RunOptions, type PromptOptions, NO_PROMPT } from './run-options.ts';
import { musterOptions, runPrompt } from './run-prompt.ts';

/** Opens the terminal UI. Without a terminal it continues a conversation, or prints the help. */
export async function runInteractive(
  { run, hasFlags }: PromptOptions,
  context: CommandContext,
): Promise<number> {
  const { help, out } = context;
  if (process.stdin.isTTY === true && process.stdout.isTTY === true) return openUi(run, context);
  if (run.resume !== null) return runPrompt(run);
  if (hasFlags || run.prompt !== null) throw new UsageError(NO_PROMPT);
  out(await help());
  return 0;
}

async function openUi(run: RunOptions, context: CommandContext): Promise<number> {
  const { agent, prompt, resume } = run;
  const loading = loadUi(run.screenReader || wantsPlainLines(context.environment));
  for (;;) {
    const notices: string[] = [];
    const listener = { add: (line: string): void => void notices.push(line) };
    const [muster, open] = await Promise.all([createSession(run, listener), loading]);
    try {
      if (resume === null && muster.offlineByDefault) {
        const { offerModel } = await import('./first-run.ts');
        const choice = await offerModel(notices.splice(0), run, context);
        if (choice === 'quit') return 0;
        if (choice === 'search again') continue;
      }
      return await open(muster, {
        agent,
        resume,
        prompt,
        notices,
        onOpened: (add) => {
          listener.add = add;
        },
      });
    } finally {
      await muster.close();
    }
  }
}

async function createSession(
  run: RunOptions,
  listener: { readonly add: (line: string) => void },
): Promise<Muster> {
  const { maxTurns, resume } = run;
  return createMuster({
    ...(await musterOptions(run)),
    ...(maxTurns === null ? {} : { maxTurns }),
    // A conversation can only continue in its log.
    ...(resume === null ? {} : { log: true }),
    questions: 'wait',
    attended: true,
    // Draw the screen first: what preloading prepares is needed only after the user has typed a message.
    preload: false,
    onNotice: (line) => listener.add(line),
  });
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
