import { UsageError } from '../../../base/errors.ts';
import { defineCommand, type CommandArguments } from '../command.ts';
import type { FlagReader } from '../flag-reader.ts';
import {
  runOptions,
  SESSION_FLAGS,
  type RunFlags,
  type PromptOptions,
  NO_PROMPT,
  NO_RESUMED_ID,
} from '../run-options.ts';
import { quoteValue } from '../../../config/message-text.ts';

/** The command that runs if the user names no other command: the terminal UI, or a run of one prompt (`muster -p`). */
export const promptCommand = defineCommand<PromptOptions>({
  words: '',
  summary: 'A terminal coding agent that delegates to subagents.',
  operands: [{ name: '[PROMPT]' }],
  flags: [
    'print',
    'input-format',
    'output-format',
    'output-schema',
    'accept',
    'worktree',
    'continue',
    'resume',
    'screen-reader',
    'no-log',
    'agent',
    ...SESSION_FLAGS,
    'version',
  ],
  examples: [
    'muster',
    'muster "Why does the build fail?"',
    'muster -p "Where is the retry limit decided?"',
    'git diff | muster -p "Review this change" --output-format json',
    'muster -p "Fix the failing test" --permission-mode acceptEdits --allow "Bash(npm test)"',
    'muster "Fix the login" --worktree fix-login',
    'muster --continue -p "Now run the tests"',
    'muster -p --input-format stream-json --output-format stream-json < messages.jsonl',
    'muster -p -- "- a prompt that begins with a dash"',
  ],
  parse: parsePrompt,
  run: async (options, context) => {
    if (options.isInteractive) {
      const { runInteractive } = await import('../interactive.ts');
      return runInteractive(options, context);
    }
    if (options.run.inputFormat === 'stream-json') {
      const { runStreamInput } = await import('../run-stream.ts');
      return runStreamInput(options.run);
    }
    const { runPrompt } = await import('../run-prompt.ts');
    return runPrompt(options.run);
  },
});

function parsePrompt({ operands, flags }: CommandArguments): PromptOptions {
  const isChoosing = isConversationChosenLater(flags);
  const resume = isChoosing ? null : resumedConversation(flags);
  const readsStdin = flags.has('print');
  // These flags concern the output of a headless run. Without a prompt they are an error, unless a conversation is resumed.
  const isHeadless = (['output-format', 'output-schema', 'accept', 'verbose'] as const).some(
    (name) => flags.has(name),
  );
  if (isChoosing && (readsStdin || isHeadless)) throw new UsageError(NO_RESUMED_ID);
  const prompt = onlyPrompt([...flags.optionalTexts('print'), ...operands]);
  const isInteractive = !readsStdin && !(isHeadless && resume !== null);
  if (isInteractive && isHeadless) throw new UsageError(NO_PROMPT);
  const worktree = readWorktree(flags);
  const run = { prompt, resume, readsStdin, worktree, ...runOptions(flags) };
  if (run.inputFormat === 'stream-json') checkStream(run);
  return { isInteractive, isChoosing, hasFlags: flags.hasAny, run };
}

/** Throws if the other options do not go with messages from stdin. */
function checkStream({ prompt, readsStdin, outputFormat }: RunFlags): void {
  if (!readsStdin) throw new UsageError('--input-format stream-json needs -p');
  if (prompt !== null) {
    throw new UsageError(
      `--input-format stream-json reads the messages from stdin; write the prompt there, as {"type":"user","text":${JSON.stringify(prompt)}}`,
    );
  }
  if (outputFormat === 'stream-json') return;
  throw new UsageError(
    '--input-format stream-json needs --output-format stream-json, because each message has its own result',
  );
}

/** Matches a name that can be a part of the name of a branch. */
const WORKTREE_NAME = /^[\w.-]{1,60}$/;

function readWorktree(flags: FlagReader): RunFlags['worktree'] {
  if (!flags.has('worktree')) return null;
  if (flags.has('add-dir')) throw new UsageError('--add-dir does not go with --worktree');
  const name = flags.optionalTexts('worktree').at(-1) ?? null;
  if (name === null || WORKTREE_NAME.test(name)) return { name };
  throw new UsageError(
    `--worktree takes a name of letters, digits and -_. such as fix-login, not ${quoteValue(name)}; a prompt goes before the flag: muster "…" --worktree`,
  );
}

/** Whether the user will choose the conversation in the terminal UI: `--resume` has no id. */
function isConversationChosenLater(flags: FlagReader): boolean {
  if (!flags.has('resume') || flags.optionalTexts('resume').length > 0) return false;
  checkResumeFlags(flags, { isNamed: true });
  return true;
}

function resumedConversation(flags: FlagReader): RunFlags['resume'] {
  const id = flags.text('resume');
  if (id === null && !flags.has('continue')) return null;
  checkResumeFlags(flags, { isNamed: id !== null });
  return id === null || id === 'last' ? 'newest' : { id };
}

/** Throws if a flag does not go with a conversation that exists. `isNamed`: whether `--resume` is one of the flags. */
function checkResumeFlags(flags: FlagReader, { isNamed }: { readonly isNamed: boolean }): void {
  if (isNamed && flags.has('continue')) {
    throw new UsageError('--continue and --resume name two conversations; give one of them');
  }
  if (flags.has('agent')) {
    throw new UsageError('--agent does not go with a conversation that has its agent already');
  }
  if (flags.has('output-schema')) {
    throw new UsageError('--output-schema cannot be added to a conversation that exists already');
  }
  if (flags.has('accept')) {
    throw new UsageError('--accept cannot be added to a conversation that exists already');
  }
  if (flags.has('worktree')) {
    throw new UsageError('--worktree does not go with a conversation that has its place already');
  }
  if (flags.has('no-log')) {
    throw new UsageError('--no-log does not go with a conversation that is in the logs');
  }
}

function onlyPrompt([prompt, second]: readonly string[]): string | null {
  if (prompt === undefined) return null;
  if (second !== undefined) {
    throw new UsageError(
      `more than one prompt (${quoteValue(prompt)} and ${quoteValue(second)}); put quotes around the whole prompt`,
    );
  }
  if (prompt.trim() === '') throw new UsageError('the prompt is empty');
  return prompt;
}
