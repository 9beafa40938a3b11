import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import {
  toolResultRounds,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import type { World } from '../e2e/world.ts';
import { needs } from '../needs.ts';

export const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** The size at which every point of the terminal UI is tested. */
const SIZE = [80, 24] as const;

interface TerminalOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly size?: readonly [number, number];
  readonly background?: string;
}

/** Opens the built program in tmux and waits for its start screen. */
export async function openTerminal(
  { sandbox, model }: World,
  { args = [], env = {}, size = SIZE, background }: TerminalOptions = {},
): Promise<TmuxTerminal> {
  const terminal = new TmuxTerminal(sandbox, args, {
    env: { ...model.env('anthropic'), ...env },
    size,
    ...(background === undefined ? {} : { background }),
  });
  await terminal.sees('/help');
  return terminal;
}

/** Opens the built program in plain lines and waits for its prompt. */
export async function openLines(
  { sandbox, model }: World,
  { args = ['--screen-reader'], env = {}, size = SIZE }: TerminalOptions = {},
): Promise<TmuxTerminal> {
  const terminal = new TmuxTerminal(sandbox, args, {
    env: { ...model.env('anthropic'), ...env },
    size,
  });
  await terminal.sees('Type what you want done.');
  return terminal;
}

/** Sends a line to the UI in plain lines, and waits for text after it. */
export async function say(
  terminal: TmuxTerminal,
  line: string,
  expected: RegExp | string,
): Promise<string> {
  terminal.type(line);
  await terminal.sees(line.slice(-30));
  terminal.press('Enter');
  const sent = new RegExp(
    `^(?:> )*${line.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)} *$`,
    'm',
  );
  return terminal.sees((screen) => {
    // A line that has left the screen was followed by all that is in view.
    const after = screen.split(sent).at(-1) ?? '';
    return typeof expected === 'string' ? after.includes(expected) : expected.test(after);
  });
}

/** Writes the configuration of the user. */
export function configure({ sandbox }: World, toml: string): void {
  const directory = join(sandbox.home, '.config/muster');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'config.toml'), toml);
}

/** Types a message or a command with its arguments, and sends it. */
export async function send(terminal: TmuxTerminal, text: string): Promise<void> {
  terminal.type(text);
  await terminal.sees(text.slice(-30));
  terminal.press('Enter');
}

/** Types a command that has completions, and runs it. */
export async function run(terminal: TmuxTerminal, command: string): Promise<void> {
  terminal.type(command);
  await terminal.sees(`→ ${command}`);
  terminal.press('Enter');
}

/** The time for which a question must be in view before a key answers it, and some more, in milliseconds. */
const READING_MS = 700;

/** Waits until a question has been in view long enough for a key to answer it. */
export async function readQuestion(): Promise<void> {
  await sleep(READING_MS);
}

/** Gives the keys to the question in view, and presses one. */
export async function answer(terminal: TmuxTerminal, ...keys: readonly string[]): Promise<void> {
  terminal.press('Tab');
  await terminal.sees('esc later');
  await readQuestion();
  terminal.press(...keys);
}

/** Leaves the UI. */
export async function leave(terminal: TmuxTerminal): Promise<string> {
  terminal.press('C-c', 'C-c');
  return terminal.sees('exit 0');
}

export function isChild({ system }: RecordedRequest): boolean {
  return system.includes('subagent of Muster');
}

/** The index of the last message that the user typed; messages of notices alone do not count. */
function lastTyped({ messages }: RecordedRequest): number {
  return messages.findLastIndex(({ role, text }) => role === 'user' && withoutNotices(text) !== '');
}

function withoutNotices(text: string): string {
  return text.replaceAll(/<notice[^]*?<\/notice>/g, '').trim();
}

/** The last message that the user typed, without the notices before it. */
export function typedText(request: RecordedRequest): string {
  return withoutNotices(request.messages[lastTyped(request)]?.text ?? '');
}

/** The number of results of calls since the last message of the user. */
export function roundsOf(request: RecordedRequest): number {
  return toolResultRounds({ messages: request.messages.slice(lastTyped(request) + 1) });
}

/** A call of Task. */
export function delegate(
  prompt: string,
  description = prompt,
  more: Readonly<Record<string, string | boolean>> = {},
): AnswerToolCall {
  return {
    name: 'Task',
    input: { prompt, description, subagent_type: 'general-purpose', ...more },
  };
}
