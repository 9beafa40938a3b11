import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
  type WireMessage,
} from '../../src/testing/index.ts';
import { COUNTER, draftText, finalText, MAIN, promptOf, taskOfPrompt } from './scenario.ts';

export const FINAL_ANSWER = 'All is done.';

/** The user's own `general-purpose`: it may delegate, and its mode is its parent's. */
export const WORKER_FILE = `---
name: general-purpose
description: does a part of the work
tools: Task, TaskOutput, TaskSend, TaskStop, Read, Write, Edit, Bash
---

You do your part of the work.
`;

export interface Child {
  readonly name: string;
  readonly parent: string;
  readonly background: boolean;
  /** Its parent sends it a message, and waits for the result that follows. */
  readonly getsNews: boolean;
}

const child = (
  name: string,
  parent: string,
  { background = false, getsNews = false }: { background?: boolean; getsNews?: boolean } = {},
): Child => ({ name, parent, background, getsNews });

/** Three levels: main, three children, three grandchildren. */
export const CHILDREN: readonly Child[] = [
  child('A', MAIN, { background: true, getsNews: true }),
  child('B', MAIN),
  child('C', MAIN, { background: true, getsNews: true }),
  child('A1', 'A'),
  child('B1', 'B', { background: true }),
  child('B2', 'B'),
];

export const TASKS: readonly string[] = [MAIN, ...CHILDREN.map(({ name }) => name)];

/** What a request tells of the task that sends it. */
export type Seen = Pick<RecordedRequest, 'messages'>;
type Round = (seen: Seen) => readonly AnswerToolCall[];

export function taskOf(request: Seen): string {
  return taskOfPrompt(firstUserText(request));
}

/** What a child's result holds and nothing else does; another one once it has had its news. */
export function resultMark(task: string, { hasNews }: { readonly hasNews: boolean }): string {
  return `RESULT_${task}_${hasNews ? 1 : 0}_`;
}

export function newsMark(task: string): string {
  return `NEWS_${task}_`;
}

/** All that a model was told, its own words left out. */
export function toldTexts(messages: readonly WireMessage[]): readonly string[] {
  return messages.flatMap(({ role, text, toolResults }) => [
    ...(role === 'user' ? [text] : []),
    ...toolResults.map((result) => result.text),
  ]);
}

function isTold(seen: Seen, mark: string): boolean {
  return toldTexts(seen.messages).some((text) => text.includes(mark));
}

/** When a command leaves its token: before its work or after it. */
type When = 'early' | 'late';

/**
 * A command that makes one token, works a little and then, should nobody be there any more to read
 * its output, hangs on: nobody but a sweep ends it. A `stubborn` one ignores TERM.
 */
function bash(token: string, when: When, { stubborn = false } = {}): AnswerToolCall {
  const effect = `echo tok_${token}_ >> ${COUNTER}`;
  const work = when === 'early' ? [effect, 'sleep 0.06'] : ['sleep 0.06', effect];
  const steps = [...(stubborn ? ["trap '' TERM"] : []), ...work];
  const command = `${steps.join('; ')}; kill -0 $PPID 2>/dev/null || exec sleep 20`;
  return { name: 'Bash', input: { command } };
}

/** A command that goes on in the background: one that ends by itself, or one that never does. */
function background(token: string, { ends }: { readonly ends: boolean }): AnswerToolCall {
  const effect = `echo tok_${token}_ >> ${COUNTER}`;
  const command = ends ? `sleep 0.05; ${effect}` : `${effect}; exec sleep 20`;
  return { name: 'Bash', input: { command, run_in_background: true } };
}

const look: AnswerToolCall = { name: 'Read', input: { file_path: 'notes.txt' } };

function delegate(task: string): AnswerToolCall {
  const background = CHILDREN.find(({ name }) => name === task)?.background ?? false;
  const input = { description: `part ${task}`, prompt: promptOf(task) };
  return { name: 'Task', input: { ...input, ...(background ? { run_in_background: true } : {}) } };
}

function write(task: string): AnswerToolCall {
  return { name: 'Write', input: { file_path: `${task}.txt`, content: draftText(task) } };
}

function edit(task: string): AnswerToolCall {
  const change = { old_string: draftText(task), new_string: finalText(task) };
  return { name: 'Edit', input: { file_path: `${task}.txt`, ...change } };
}

function send(task: string): Round {
  return (seen) => [
    { name: 'TaskSend', input: { to: idOf(seen, task), message: newsMark(task) } },
    look,
  ];
}

/** Reads its result, unless it was told already: a model does not ask for what it has. */
function readResult(task: string, news: { readonly hasNews: boolean }): Round {
  return (seen) => {
    if (isTold(seen, resultMark(task, news))) return [look];
    return [{ name: 'TaskOutput', input: { task_id: idOf(seen, task) } }];
  };
}

/** The id of the child of that name, as the outcome of the call that made it says. */
function idOf({ messages }: Seen, task: string): string {
  const calls = messages.flatMap(({ toolCalls }) => toolCalls);
  const call = calls.find(({ name, input }) => {
    return name === 'Task' && JSON.stringify(input).includes(`[${task}]`);
  });
  const results = messages.flatMap(({ toolResults }) => toolResults);
  const text = results.find(({ callId }) => callId === call?.id)?.text ?? '';
  const [, id] = /(?:^Task |\[task )([a-z0-9]{8,32})/.exec(text) ?? [];
  if (id === undefined) throw new Error(`no id of ${task} in: ${text}`);
  return id;
}

function calls(...same: readonly AnswerToolCall[]): Round {
  return () => same;
}

function leaf(task: string): readonly Round[] {
  return [calls(bash(task, 'early')), calls(write(task)), calls(edit(task))];
}

/** What each task calls, one message after another. */
const ROUNDS: ReadonlyMap<string, readonly Round[]> = new Map([
  [
    MAIN,
    [
      calls(look, bash('main1', 'early')),
      calls(delegate('A'), delegate('B'), delegate('C')),
      // It is at work then, most often, and C has ended.
      send('A'),
      send('C'),
      readResult('A', { hasNews: true }),
      calls(bash('main2', 'late')),
    ],
  ],
  [
    'A',
    [
      calls(bash('A', 'late')),
      calls(delegate('A1')),
      calls(bash('Amore', 'early', { stubborn: true })),
      calls(bash('Alast', 'late')),
    ],
  ],
  [
    'B',
    [
      calls(bash('B', 'early'), look),
      calls(delegate('B1'), delegate('B2')),
      calls(write('B')),
      readResult('B1', { hasNews: false }),
      calls(edit('B'), bash('Blast', 'late')),
    ],
  ],
  [
    'C',
    [
      calls(look, bash('C', 'early')),
      calls(background('Cserver', { ends: false })),
      calls(bash('Clast', 'late')),
    ],
  ],
  ['A1', leaf('A1')],
  ['B1', [calls(background('B1build', { ends: true })), ...leaf('B1')]],
  ['B2', leaf('B2')],
]);

/** Calls of an undisturbed run that change something. */
export const EFFECTS_MEANT = 22;

const PACE = { firstTokenMs: 10, chunkMs: 5, chunks: 2 };
/** Long enough for a child to end while the request is under way. */
const SLOW_PACE = { ...PACE, firstTokenMs: 150 };

/** After it has sent a message, a model thinks longer. */
export function thinksLonger({ messages }: Seen): boolean {
  return messages.at(-2)?.toolCalls.some(({ name }) => name === 'TaskSend') ?? false;
}

interface TreeAnswer {
  readonly text: string;
  readonly toolCalls?: readonly AnswerToolCall[];
}

/** The model of every task, over HTTP. */
export function answerTree(request: RecordedRequest): Answer {
  return { ...treeAnswer(request), ...(thinksLonger(request) ? SLOW_PACE : PACE) };
}

/**
 * What a task answers follows from what the request holds and from nothing else, so that a request
 * which is sent again gets the same.
 */
export function treeAnswer(seen: Seen): TreeAnswer {
  const task = taskOf(seen);
  const rounds = ROUNDS.get(task);
  if (rounds === undefined) throw new Error(`no script for ${firstUserText(seen)}`);
  const round = rounds[toolResultRounds(seen)];
  if (round !== undefined) return { text: `${task} goes on.`, toolCalls: round(seen) };
  const waitsFor = CHILDREN.filter(({ parent, name, getsNews }) => {
    return parent === task && !isTold(seen, resultMark(name, { hasNews: getsNews }));
  });
  if (waitsFor.length > 0) {
    return { text: `${task} waits for ${waitsFor.map(({ name }) => name).join()}.` };
  }
  if (task === MAIN) return { text: FINAL_ANSWER };
  const hasNews = isTold(seen, newsMark(task));
  return { text: `${resultMark(task, { hasNews })} is what ${task} found.` };
}
