import type { JsonObject } from '../../src/base/json.ts';
import type { Rule } from '../../src/testing/index.ts';

export interface ScenarioCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** What the model of a task answers, one answer a turn: calls, or at the end a text. */
export interface ScenarioAnswer {
  readonly text?: string;
  readonly calls?: readonly ScenarioCall[];
}

/** The answers of each task, by the name that stands as `[NAME]` in its prompt. */
export type Scenario = ReadonlyMap<string, readonly ScenarioAnswer[]>;

/** Here each Bash call leaves a line of its own: which commands really ran. */
export const COUNTER = 'counter.txt';
export const MAIN = 'main';
/** Longer than what a log keeps inline: its result goes to a blob. */
const LONG_TEXT = 'a long line of text\n'.repeat(4_000);

/** The workspace as it is before a run. */
export const WORKSPACE: Readonly<Record<string, string>> = {
  'notes.txt': 'the parser is in parse.ts\n',
  'long.txt': LONG_TEXT,
  [COUNTER]: '',
};

/** Its own `general-purpose`, which may delegate, and whose mode is its parent's. */
export const SESSION_AGENTS = JSON.stringify({
  'general-purpose': {
    description: 'does a part of the work',
    prompt: 'You do your part of the work.',
    tools: 'Task, TaskOutput, TaskSend, TaskStop, Read, Grep, Write, Edit, Bash',
  },
});

export function promptOf(task: string): string {
  return `[${task}] Do what the script says.`;
}

/** The name of the task whose prompt this is. */
export function taskOfPrompt(prompt: string): string {
  return /\[(\w+)\]/.exec(prompt)?.[1] ?? '';
}

function bash(token: string): ScenarioCall {
  return { name: 'Bash', input: { command: `echo ${token} >> ${COUNTER}` } };
}

function delegate(task: string): ScenarioCall {
  const input = { description: `part ${task}`, prompt: promptOf(task) };
  return { name: 'Task', input: { ...input, subagent_type: 'general-purpose' } };
}

const look: readonly ScenarioCall[] = [
  { name: 'Read', input: { file_path: 'notes.txt' } },
  { name: 'Grep', input: { pattern: 'parser', path: 'notes.txt' } },
];

export function draftText(task: string): string {
  return `draft of ${task}\n`;
}

export function finalText(task: string): string {
  return `final of ${task}\n`;
}

function worker(task: string, children: readonly string[]): readonly ScenarioAnswer[] {
  const file = `${task}.txt`;
  const edit = { file_path: file, old_string: draftText(task), new_string: finalText(task) };
  return [
    { text: `I am ${task}.`, calls: [...look, bash(`${task}-first`)] },
    { calls: [{ name: 'Write', input: { file_path: file, content: draftText(task) } }] },
    ...(children.length === 0 ? [] : [{ calls: children.map(delegate) }]),
    { calls: [{ name: 'Edit', input: edit }] },
    { calls: [bash(`${task}-last`)] },
    { text: `${task} is done.` },
  ];
}

function main(children: readonly string[]): readonly ScenarioAnswer[] {
  return [
    { text: 'I look around.', calls: [...look, bash('main-first')] },
    { text: 'I delegate.', calls: children.map(delegate) },
    { calls: [{ name: 'Read', input: { file_path: 'long.txt' } }] },
    { calls: [bash('main-last')] },
    { text: 'All is done.' },
  ];
}

/** How many of its calls change something. */
export function effectsMeant(scenario: Scenario): number {
  return [...scenario.values()]
    .flat()
    .flatMap(({ calls = [] }) => calls)
    .filter(({ name }) => ['Bash', 'Write', 'Edit'].includes(name)).length;
}

/** Three levels: main, three children, three grandchildren. */
export const THREE_LEVELS: Scenario = new Map([
  [MAIN, main(['A', 'B', 'C'])],
  ['A', worker('A', ['A1', 'A2'])],
  ['B', worker('B', ['B1'])],
  ['C', worker('C', [])],
  ['A1', worker('A1', [])],
  ['A2', worker('A2', [])],
  ['B1', worker('B1', [])],
]);

/** Three levels in a line: one task at work at a time, so each run takes the same steps. */
export const IN_A_LINE: Scenario = new Map([
  [MAIN, main(['A'])],
  ['A', worker('A', ['A1'])],
  ['A1', worker('A1', [])],
]);

/** Two children at work at the same time, one with a child of its own. */
export const SIDE_BY_SIDE: Scenario = new Map([
  [MAIN, main(['B', 'C'])],
  ['B', worker('B', ['B1'])],
  ['B1', worker('B1', [])],
  ['C', worker('C', [])],
]);

/** The scenario for the fake server. A task's turn is known by the results that it has sent back. */
export function rulesOf(scenario: Scenario): readonly Rule[] {
  return [...scenario].flatMap(([task, answers]) =>
    answers.map(({ text, calls }, turn) => ({
      when: { promptIncludes: `[${task}]`, toolResults: turn },
      answer: {
        ...(text === undefined ? {} : { text }),
        ...(calls === undefined ? {} : { toolCalls: calls }),
        firstTokenMs: 10,
        chunkMs: 5,
        chunks: 2,
      },
    })),
  );
}
