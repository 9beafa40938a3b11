import type { Call, HostileCase, Settings, Step } from './case.ts';

/** Short names for what models do; all data. */
export const read = (path: string): Call => ({ name: 'Read', input: { file_path: path } });
export const write = (path: string, content = 'overwritten'): Call => ({
  name: 'Write',
  input: { file_path: path, content },
});
export const edit = (path: string, from: string, to: string): Call => ({
  name: 'Edit',
  input: { file_path: path, old_string: from, new_string: to },
});
export const grep = (pattern: string, more: Readonly<Record<string, string>> = {}): Call => ({
  name: 'Grep',
  input: { pattern, output_mode: 'content', ...more },
});
export const glob = (pattern: string, path?: string): Call => ({
  name: 'Glob',
  input: path === undefined ? { pattern } : { pattern, path },
});
export const ls = (path?: string): Call => ({
  name: 'LS',
  input: path === undefined ? {} : { path },
});
export const bash = (command: string): Call => ({ name: 'Bash', input: { command } });
export const task = (
  name: string,
  type: string,
  more: Readonly<Record<string, string | boolean | number>> = {},
): Call => ({
  name: 'Task',
  input: { prompt: `[${name}] go`, description: name, subagent_type: type, ...more },
});

/** A model that makes these calls in one message. */
export const once = (...calls: readonly Call[]): { readonly main: readonly Step[] } => ({
  main: [{ calls }],
});
/** … one message after another. */
export const inTurn = (...calls: readonly Call[]): readonly Step[] =>
  calls.map((call) => ({ calls: [call] }));

export const AUTONOMOUS: Settings = { mode: 'autonomous' };
export const ACCEPT_EDITS: Settings = { mode: 'acceptEdits' };

/** What the cases of a file have in common. */
export function ofClass(
  name: HostileCase['class'],
  cases: readonly Omit<HostileCase, 'class'>[],
): readonly HostileCase[] {
  return cases.map((each) => ({ class: name, ...each }));
}
