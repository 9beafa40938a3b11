import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { openWorld, type World } from './world.ts';

const FILES = {
  '.muster/agents/finder.md': `---
name: finder
description: Looks for things, and shares what it finds.
tools: Board
---
You look.
`,
};
/** A run in plan mode, in which the board works, too. */
export const GO = ['-p', 'go', '--trust-project', '--permission-mode', 'plan'];

function board(input: Record<string, string>): AnswerToolCall {
  return { name: 'Board', input };
}

export function post(title: string, text: string): AnswerToolCall {
  return board({ action: 'post', title, text });
}

export function finder(prompt: string, more: Record<string, string> = {}): AnswerToolCall {
  return { name: 'Task', input: { prompt, subagent_type: 'finder', ...more } };
}

export function resultsIn(request: RecordedRequest | undefined): readonly string[] {
  return request?.messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)) ?? [];
}

type Script = Readonly<
  Record<string, readonly ((results: readonly string[]) => readonly AnswerToolCall[])[]>
>;

/** The calls of each task in order, by its prompt. */
export function openBoardWorld(script: Script): Promise<World> {
  return openWorld({
    files: FILES,
    script: (request): Answer => {
      const calls = script[firstUserText(request)]?.[toolResultRounds(request)];
      return calls === undefined ? { text: 'done' } : { toolCalls: calls(resultsIn(request)) };
    },
  });
}

/** The last request of the task with this prompt. */
export function lastOf({ model }: World, prompt: string): RecordedRequest | undefined {
  return model.requests.findLast((request) => firstUserText(request) === prompt);
}

export const listAll = () => [board({ action: 'list' })];
/** Reads the newest finding of a list. */
export const readNewest = (results: readonly string[]) => {
  const ids = [...(results.at(-1) ?? '').matchAll(/^([a-z0-9]{12}) \(/gm)].map(([, id = '']) => id);
  return [board({ action: 'read', id: ids.at(-1) ?? '' })];
};
