import type { ScriptedAnswer, AnswerToolCall } from '../../src/testing/answer.ts';
import type { Rule } from '../../src/testing/rules.ts';
import { answeredAt, byTask, type Exchange } from './model-server.ts';

/** A scripted run: the main agent delegates to children that work at the same time, `waves` times in a row. */
export interface FanOut {
  readonly children: number;
  /**
   * The number of agents between the main agent and the children. Each of them delegates to its share of the
   * children in one message. 0: the main agent delegates to all children itself.
   */
  readonly coordinators: number;
  /** Whether the children run in the background. Default false. */
  readonly isBackground?: boolean;
  /** The isolation that the Task calls ask for. Default: none. */
  readonly isolation?: 'worktree';
  /** The agent of the children. Default: `Explore`. */
  readonly agent?: string;
  readonly waves: number;
  /** How long the server takes for each answer to a child, up to its last byte, in milliseconds. */
  readonly turnMs: number;
  /** How long the server waits before it answers the main agent, in milliseconds. Default 0. */
  readonly pauseMs?: number;
  /** What the children do; child i does number i modulo the length. Default: each reads two small files. */
  readonly jobs?: readonly ChildJob[];
}

export interface ChildJob {
  /** A word in the child's prompt that occurs in the prompts of no other job. */
  readonly keyword: string;
  /** The tool calls of each turn. One more turn follows, in which the child answers. */
  readonly turns: readonly (readonly AnswerToolCall[])[];
}

const SMALL_READS: ChildJob = {
  keyword: 'notes.txt',
  turns: ['notes.txt', 'plan.txt'].map((name) => [{ name: 'Read', input: { file_path: name } }]),
};

/** Raised limits, so that 1,000 children work at the same time. */
export const MANY_CHILDREN_SETTINGS = {
  MUSTER_TASK_TOOL_NESTED: 'true',
  MUSTER_TASK_TOOL_MAX_PARALLEL: '1000',
  MUSTER_TASK_TOOL_MAX_TASKS: '10000',
  MUSTER_TASK_TOOL_MAX_TOKENS: '1000000000',
  MUSTER_PROVIDER_MAX_CONCURRENT: '2000',
};

export const FAN_OUT_PROMPT = 'Have all parts looked at.';
const COORDINATOR_PROMPT = 'Have this group looked at';
const CHILD_PROMPT = 'Look at one part';

/** The number of requests that each child sends. */
export function turnCount({ jobs = [SMALL_READS] }: FanOut): number {
  return 1 + Math.max(...jobs.map(({ turns }) => turns.length));
}

/** How long a child takes when nothing but the model costs time, in milliseconds. */
export function idealMs(shape: FanOut): number {
  return turnCount(shape) * shape.turnMs;
}

/** The job of the child that sent these requests. */
export function jobOf(task: readonly Exchange[], { jobs = [SMALL_READS] }: FanOut): ChildJob {
  const job = jobs.find(({ keyword }) => task[0]?.rawBody.includes(keyword));
  if (job === undefined) throw new Error('the prompt of a child names none of the jobs');
  return job;
}

export function fanOutScript(shape: FanOut): readonly Rule[] {
  const { waves, turnMs, pauseMs = 0, jobs = [SMALL_READS] } = shape;
  return [
    ...jobs.flatMap(({ keyword, turns }) =>
      turns.map((toolCalls, turn): Rule => ({
        when: { promptIncludes: keyword, toolResults: turn },
        answer: {
          text: 'Now I look at this part, which may well say it.',
          toolCalls,
          chunks: 5,
          ...pace(turnMs),
        },
      })),
    ),
    {
      when: { promptIncludes: CHILD_PROMPT },
      answer: {
        text: 'The answer is in notes.txt:1 and plan.txt:1, in one line each.',
        chunks: 10,
        ...pace(turnMs),
      },
    },
    ...numbers(waves).flatMap((wave) => waveRules(shape, wave)),
    {
      when: { promptIncludes: FAN_OUT_PROMPT },
      answer: { text: 'All is done.', firstTokenMs: pauseMs },
    },
    { when: { promptIncludes: COORDINATOR_PROMPT }, answer: { text: 'The group is done.' } },
  ];
}

/** The number of requests at the server when all children of this wave (from 1) wait for this turn. */
export function requestsUntil(shape: FanOut, wave: number, turn: number): number {
  const perWave = 1 + 2 * shape.coordinators + turnCount(shape) * shape.children;
  // An agent with children in the background ends its turn before any of them has ended.
  const waiting = shape.isBackground === true ? 1 : 0;
  return (wave - 1) * perWave + 1 + waiting + shape.coordinators + turn * shape.children;
}

/** The number of requests at the server when the main agent asks what to do after this wave. */
export function requestsAfter(shape: FanOut, wave: number): number {
  return requestsUntil(shape, wave + 1, 0) - shape.coordinators;
}

function waveRules(shape: FanOut, wave: number): readonly Rule[] {
  const { children, coordinators, pauseMs = 0, jobs = [SMALL_READS] } = shape;
  const askedByMain = { promptIncludes: FAN_OUT_PROMPT, toolResults: wave };
  const childCalls = numbers(children).map((child) => ({
    name: 'Task',
    input: {
      description: `part ${wave}.${child}`,
      prompt: `${CHILD_PROMPT}: ${wave}.${child}. Start with ${jobs[child % jobs.length]?.keyword}.`,
      subagent_type: shape.agent ?? 'Explore',
      ...(shape.isBackground === true ? { run_in_background: true } : {}),
      ...(shape.isolation === undefined ? {} : { isolation: shape.isolation }),
    },
  }));
  if (coordinators === 0) {
    return [{ when: askedByMain, answer: { toolCalls: childCalls, firstTokenMs: pauseMs } }];
  }
  const share = Math.ceil(children / coordinators);
  const groups = numbers(coordinators).map((group) => ({
    prompt: `${COORDINATOR_PROMPT}: ${wave}.${group}.`,
    toolCalls: childCalls.slice(group * share, (group + 1) * share),
  }));
  const groupCalls = groups.map(({ prompt }) => ({ name: 'Task', input: { prompt } }));
  return [
    { when: askedByMain, answer: { toolCalls: groupCalls, firstTokenMs: pauseMs } },
    ...groups.map(({ prompt, toolCalls }): Rule => ({
      when: { promptIncludes: prompt, toolResults: 0 },
      answer: { toolCalls },
    })),
  ];
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Spends half of the time before the first of ten pieces and the rest between the pieces. */
function pace(turnMs: number): Pick<ScriptedAnswer, 'firstTokenMs' | 'chunkMs'> {
  const chunkMs = Math.floor(turnMs / 20);
  return { firstTokenMs: turnMs - 9 * chunkMs, chunkMs };
}

/** The note about limits that were raised so that all children work at the same time. */
export function raisedNote(settings: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(settings).map((setting) => setting.join('='));
  return `raised: ${pairs.join(' ')}`;
}

/** The conversations of the children of one run. Throws when a child or a turn is missing. */
export function childrenOf(
  exchanges: readonly Exchange[],
  shape: FanOut,
): readonly (readonly Exchange[])[] {
  const found = byTask(exchanges).filter(isChild);
  const expected = shape.children * shape.waves;
  const turns = turnCount(shape);
  if (found.length === expected && found.every((task) => task.length === turns)) return found;
  const lengths = found.map((task) => task.length);
  throw new Error(
    `${found.length} children of ${expected} sent requests, ${Math.min(...lengths)} to ${Math.max(...lengths)} each instead of ${turns}`,
  );
}

/** The first request of an agent that delegates names no child yet. */
function isChild([first]: readonly Exchange[]): boolean {
  return first?.rawBody.includes(CHILD_PROMPT) === true;
}

/** The time from the first request of any child to the last byte of the last answer, in milliseconds. */
export function elapsedMs(children: readonly (readonly Exchange[])[]): number {
  const exchanges = children.flat();
  const first = exchanges.reduce((min, { receivedAt }) => Math.min(min, receivedAt), Infinity);
  const last = exchanges.reduce((max, exchange) => Math.max(max, answeredAt(exchange)), 0);
  return last - first;
}

/** A request as the bare clients in `bench/programs` send it again. */
export interface ClientRequest {
  readonly path: string;
  readonly headers: Exchange['headers'];
  readonly body: string;
}

/** Leaves out the headers that belong to the connection, which the client sets itself. */
export function toClientRequest({ path, rawBody, headers }: Exchange): ClientRequest {
  const ofConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);
  const kept = Object.entries(headers).filter(([name]) => !ofConnection.has(name));
  return { path, headers: Object.fromEntries(kept), body: rawBody };
}
