import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { ScriptedAnswer, ScriptedCall } from '../../scripted-model.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { ModelRequest } from '../../../src/protocol/model.ts';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { mapToolsByName, type RerunSource } from '../../../src/replay/idle-deps.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { call, calls, play, type Play } from '../play.ts';
import { SETTINGS, testEngine, WORKER, type EngineSetup, type TestEngine } from '../support.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';

// Import the module now: the first search in a process would otherwise wait for the import, during which no virtual
// time passes.
await import('../../../src/engine/reuse/find-reusable-result.ts');

export const SCOUT: AgentDefinition = {
  ...WORKER,
  name: 'scout',
  prompt: 'You look.',
  tools: {
    mode: 'allow',
    names: [
      'Read',
      'LS',
      'Glob',
      'Grep',
      'Write',
      'Bash',
      'TodoWrite',
      'Notify',
      'Task',
      'TaskList',
    ],
  },
};

export interface Place {
  readonly root: string;
  /** The store that all engines of this workspace share. */
  readonly store: TaskStore;
  write(path: string, text: string): void;
}

/** Creates a workspace with these files, by path. */
export function workspace(
  files: Readonly<Record<string, string>>,
  store: TaskStore = openMemoryStore(),
): Place {
  const root = fs.realpathSync(tempDirectory());
  const write = (path: string, text: string): void => {
    fs.mkdirSync(dirname(join(root, path)), { recursive: true });
    fs.writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { root, store, write };
}

export interface Delegated {
  readonly test: TestEngine;
  /** The final state of the first task that the main agent created. */
  readonly state: TaskState;
  /** The outputs of the main agent's calls. */
  readonly texts: readonly string[];
  /** The model requests of that task and its descendants. */
  readonly requests: readonly ModelRequest[];
}

export interface DelegateSetup extends EngineSetup {
  /** The script of the main agent. Default: it calls one `scout` that looks. */
  readonly main?: Play['main'];
  /** Called before anything runs. */
  readonly prepareInbox?: (inbox: TestEngine['inbox']) => void;
}

/** The answers of the models of all tasks except the main task: a script or a function. */
export type Answers = Play | ((request: ModelRequest) => ScriptedAnswer);

/** Runs a main agent that delegates. Results are reused, unless the settings forbid it. */
export async function delegate(
  { root, store }: Place,
  answers: Answers,
  { main = [calls(scout('look'))], prepareInbox, ...setup }: DelegateSetup = {},
): Promise<Delegated> {
  const mainPlay = answersOf({ main });
  const others = answersOf(answers);
  const test = testEngine(async (request) => (isOfMain(request) ? mainPlay : others)(request), {
    root,
    store,
    mode: 'default',
    tools: builtinTools(),
    agents: [SCOUT],
    ...setup,
    settings: { reusesResults: true, ...setup.settings },
  });
  prepareInbox?.(test.inbox);
  const run = test.start('main');
  let hasEnded = false;
  const ended = run.end.written.then(() => (hasEnded = true));
  await setup.time?.pass(() => hasEnded);
  await ended;
  const [child] = [...run.state.children.keys()];
  if (child === undefined) throw new Error(`the main agent made no task: ${run.state.result}`);
  const results = run.state.conversation.messages.flatMap((each) =>
    each.role === 'tool' ? each.content : [],
  );
  return {
    test,
    state: foldLog(store, child),
    texts: results.map(({ text }) => text),
    requests: test.model.requests.filter((request) => !isOfMain(request)),
  };
}

function answersOf(
  answers: Answers,
): (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer> {
  if (typeof answers === 'function') return answers;
  const script = play(answers);
  if (typeof script !== 'function') throw new Error('a play is a function');
  return (request) => script(request, 0);
}

function isOfMain({ messages: [first] }: ModelRequest): boolean {
  return first?.role === 'user' && first.content[0]?.text === 'main';
}

export function scout(prompt: string, input: JsonObject = {}): ScriptedCall {
  return call('Task', { prompt, description: prompt, subagent_type: 'scout', ...input });
}

/** Returns the script of a task that makes these calls, one in each turn, and then answers. */
export function looks(...each: readonly ScriptedCall[]): readonly ScriptedAnswer[] {
  return [...each.map((one) => calls(one)), { text: 'It is so.' }];
}

/** Returns the source for reruns of the logs of a workspace. */
export function sourceOf({ store }: Place): RerunSource {
  const parts = { store, settings: SETTINGS };
  return { ...parts, tools: mapToolsByName(parts, builtinTools()) };
}
