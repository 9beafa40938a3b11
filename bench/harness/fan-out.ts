import { writeFileSync } from 'node:fs';
import type { Answer } from '../../src/testing/answer.ts';
import type { Rule } from '../../src/testing/rules.ts';
import { answeredAt, byTask, type Exchange } from './model-server.ts';

/** The main agent has children at work at once, `waves` times. */
export interface FanOut {
  readonly children: number;
  /**
   * Agents between it and the children, each of which delegates to its share in one message. 0: it
   * delegates to all of them itself.
   */
  readonly coordinators: number;
  /** Whether the children are sent to the background, and told of as they end. Default false. */
  readonly background?: boolean;
  readonly waves: number;
  /** How long the server takes for a child's answer, in milliseconds, the last byte included. */
  readonly turnMs: number;
  /** How long it takes for the main agent's answer after a wave. Default 0. */
  readonly pauseMs?: number;
}

export const TURNS = 3;
export const FAN_OUT_PROMPT = 'Have all parts looked at.';
const COORDINATOR_PROMPT = 'Have this group looked at';
const CHILD_PROMPT = 'Look at one part';
const FILES = ['notes.txt', 'plan.txt'];

/** Two turns in which a child reads a file, then its answer. */
export function fanOutScript(shape: FanOut): readonly Rule[] {
  const { waves, turnMs, pauseMs = 0 } = shape;
  return [
    ...FILES.map((name, turn): Rule => ({
      when: { promptIncludes: CHILD_PROMPT, toolResults: turn },
      answer: {
        text: `Now I look at ${name}, which may well say it.`,
        toolCalls: [{ name: 'Read', input: { file_path: name } }],
        chunks: 5,
        ...pace(turnMs),
      },
    })),
    {
      when: { promptIncludes: CHILD_PROMPT },
      answer: {
        text: 'It stands in notes.txt:1 and plan.txt:1, in one line each.',
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

/** How many requests the server has had when all children of that wave (from 1) wait for that turn. */
export function requestsUntil(shape: FanOut, wave: number, turn: number): number {
  const ofWave = 1 + 2 * shape.coordinators + TURNS * shape.children;
  // Whoever sends children to the background ends its answer before any of them has ended.
  const waiting = shape.background === true ? 1 : 0;
  return (wave - 1) * ofWave + 1 + waiting + shape.coordinators + turn * shape.children;
}

/** The same when the main agent asks what to do after that wave. */
export function requestsAfter(shape: FanOut, wave: number): number {
  return requestsUntil(shape, wave + 1, 0) - shape.coordinators;
}

function waveRules(shape: FanOut, wave: number): readonly Rule[] {
  const { children, coordinators, pauseMs = 0 } = shape;
  const firstTokenMs = wave === 0 ? 0 : pauseMs;
  const ofMain = { promptIncludes: FAN_OUT_PROMPT, toolResults: wave };
  const childCalls = numbers(children).map((child) => ({
    name: 'Task',
    input: {
      description: `part ${wave}.${child}`,
      prompt: `${CHILD_PROMPT}: ${wave}.${child}.`,
      subagent_type: 'Explore',
      ...(shape.background === true ? { run_in_background: true } : {}),
    },
  }));
  if (coordinators === 0) {
    return [{ when: ofMain, answer: { toolCalls: childCalls, firstTokenMs } }];
  }
  const share = Math.ceil(children / coordinators);
  const groups = numbers(coordinators).map((group) => ({
    prompt: `${COORDINATOR_PROMPT}: ${wave}.${group}.`,
    toolCalls: childCalls.slice(group * share, (group + 1) * share),
  }));
  const groupCalls = groups.map(({ prompt }) => ({ name: 'Task', input: { prompt } }));
  return [
    { when: ofMain, answer: { toolCalls: groupCalls, firstTokenMs } },
    ...groups.map(({ prompt, toolCalls }): Rule => ({
      when: { promptIncludes: prompt, toolResults: 0 },
      answer: { toolCalls },
    })),
  ];
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Half of the time until the first of ten pieces, the rest between them. */
function pace(turnMs: number): Pick<Answer, 'firstTokenMs' | 'chunkMs'> {
  const chunkMs = Math.floor(turnMs / 20);
  return { firstTokenMs: turnMs - 9 * chunkMs, chunkMs };
}

/** The children's conversations of one run. */
export function childrenOf(
  exchanges: readonly Exchange[],
  { children, waves }: FanOut,
): readonly (readonly Exchange[])[] {
  const ofChildren = byTask(exchanges).filter(isChild);
  const wanted = children * waves;
  if (ofChildren.length === wanted && ofChildren.every((task) => task.length === TURNS)) {
    return ofChildren;
  }
  const turns = ofChildren.map((task) => task.length);
  throw new Error(
    `${ofChildren.length} children of ${wanted} came, with ${Math.min(...turns)} to ${Math.max(...turns)} turns of ${TURNS}`,
  );
}

/** By its first request: those who delegate name no child in theirs. */
function isChild([first]: readonly Exchange[]): boolean {
  return first?.rawBody.includes(CHILD_PROMPT) === true;
}

/** First child request → last child answer, in milliseconds. */
export function elapsed(children: readonly (readonly Exchange[])[]): number {
  const exchanges = children.flat();
  const first = exchanges.reduce((least, { receivedAt }) => Math.min(least, receivedAt), Infinity);
  const last = exchanges.reduce((most, exchange) => Math.max(most, answeredAt(exchange)), 0);
  return last - first;
}

/** Writes what `keep-alive-client.mjs` sends: the very requests of these conversations. */
export function writeConversations(
  path: string,
  url: string,
  children: readonly (readonly Exchange[])[],
): void {
  const conversations = children.map((task) =>
    task.map(({ path, rawBody, headers }) => ({
      path,
      headers: ownHeaders(headers),
      body: rawBody,
    })),
  );
  writeFileSync(path, JSON.stringify({ url, conversations }));
}

/** Those that belong to the connection are left to the client. */
function ownHeaders(headers: Exchange['headers']): Exchange['headers'] {
  const ofConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));
}
