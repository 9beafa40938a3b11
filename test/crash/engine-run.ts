import { setTimeout as sleep } from 'node:timers/promises';
import { parseSessionAgents } from '../../src/agents/formats/claude/reader.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { Deadlines } from '../../src/base/deadlines.ts';
import { isJsonObject, type JsonValue } from '../../src/base/json.ts';
import { Engine } from '../../src/engine/engine.ts';
import { Inbox } from '../../src/engine/task/inbox.ts';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import type { TaskRun } from '../../src/engine/task/task-run.ts';
import { createScriptedModel, type ScriptedAnswer } from '../scripted-model.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { ModelRequest } from '../../src/protocol/model.ts';
import type { ResultEnvelope } from '../../src/protocol/result.ts';
import type { AnyTool } from '../../src/protocol/tool.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { tell, type Effect, type Told } from './acknowledged.ts';
import {
  MAIN,
  promptOf,
  SESSION_AGENTS,
  taskOfPrompt,
  type Scenario,
  type ScenarioAnswer,
} from './scenario.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import type { EngineSettings } from '../../src/engine/limits/configured-limits.ts';

/** Told of everything that leaves the engine, at the moment when it does. */
export interface Witness {
  printed(event: TaskEvent): void;
  sent(request: Told): void;
  /** A tool begins to change something. */
  made(effect: Effect): void;
}

export interface EngineOutcome {
  readonly envelope: ResultEnvelope;
  /** What could not be written where it belongs. */
  readonly faults: readonly unknown[];
}

/** The same at every reading: what is written does not depend on how long a run took. */
export const STILL_CLOCK: Clock = { now: () => 1_000, monotonic: () => 1_000 };

const MODEL = { provider: 'scripted', id: 'one', chain: ['test'] };
const NO_LIMITS = { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };
const SETTINGS: EngineSettings = {
  taskTools: true,
  maxDepth: 2,
  listedServerToolBytes: 35_000,
  modelFamily: 'auto',
  nested: false,
  maxTasks: 500,
  maxParallel: 16,
  taskLimits: NO_LIMITS,
  rootLimits: NO_LIMITS,
  treeTokens: 0,
  treeCostUsd: 0,
  treeTurns: 0,
  treeToolBytes: 0,
  treeWallMs: null,
  maxProcesses: 64,
  foregroundMs: 300_000,
  silentRetries: 1,
  retries: 0,
  noProgressCalls: 8,
  maxWaitMs: 0,
  cacheHoldMs: 0,
  reusesResults: false,
  caps: { resultBytes: 30_000, readBytes: 262_144, spillBytes: 1_000_000, toolMs: 600_000 },
  commandVariables: [],
};

/**
 * Runs a scenario to its end in the real engine over `store`, with a scripted model and with tools
 * that only tell their effects to the witness. Throws what the start of the root task throws.
 */
export async function runEngine(
  store: TaskStore,
  scenario: Scenario,
  witness: Witness,
): Promise<EngineOutcome> {
  const faults: unknown[] = [];
  const answer = (request: ModelRequest): ScenarioAnswer => answerTo(scenario, request);
  const engine = engineOver(store, { answer, witness, faults });
  const run = startMain(engine);
  await run.end.written;
  return { envelope: engine.result(run), faults };
}

export interface EngineParts {
  readonly answer: (request: ModelRequest) => ScriptedAnswer;
  readonly witness: Witness;
  /** Filled with what could not be written where it belongs. */
  readonly faults: unknown[];
  readonly settings?: Partial<EngineSettings>;
}

/** The real engine over a store, with tools that only tell their effects. */
export function engineOver(
  store: TaskStore,
  { answer, witness, faults, settings = {} }: EngineParts,
): Engine {
  return new Engine({
    store,
    model: createScriptedModel((request) => {
      witness.sent(copyOf(tell(request.prefix, request.messages)));
      return answer(request);
    }),
    models: {
      forTask: () => MODEL,
      details: async () => ({ contextWindow: null, maxOutput: null, price: null }),
      outputLimit: () => null,
    },
    tools: witnessedTools(witness),
    agents: { refresh: async () => {}, agents: () => parseSessionAgents(SESSION_AGENTS).items },
    skills: { refresh: async () => {}, skills: () => [] },
    clock: STILL_CLOCK,
    deadlines: new Deadlines(systemClock),
    settings: { ...SETTINGS, ...settings },
    platform: 'linux',
    home: '/home/me',
    stateDirectories: ['/home/me/.local/share/muster'],
    sandboxed: () => Promise.resolve(true),
    sandbox: createUnavailableSandbox('a test', 'none is needed'),
    inbox: new Inbox({ onAsk: 'deny', standing: null }),
    onEvent: (event) => witness.printed(copyOf(event)),
    onFault: (_task, thrown) => void faults.push(thrown),
    onSignal: () => {},
  });
}

/** The task at the top of a scenario. */
export function startMain(engine: Engine): TaskRun {
  return engine.start({
    prompt: promptOf(MAIN),
    agent: MAIN_AGENT,
    model: MODEL,
    rights: {
      mode: 'autonomous',
      rules: { allow: [], ask: [], deny: [] },
      disallowedTools: [],
      roots: ['/work'],
      network: false,
      depth: 0,
      maxDepth: SETTINGS.maxDepth,
    },
    cwd: '/work',
    source: 'sdk',
    params: {},
  });
}

/** As it is at this moment, whatever becomes of it. */
function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

/** A task's turn is known by the results that it has sent back, as in `rulesOf`. */
function answerTo(scenario: Scenario, { messages }: ModelRequest): ScenarioAnswer {
  const [first] = messages;
  const prompt = first?.role === 'user' ? (first.content[0]?.text ?? '') : '';
  const turn = messages.filter(({ role }) => role === 'tool').length;
  const answer = scenario.get(taskOfPrompt(prompt))?.[turn];
  if (answer === undefined) throw new Error(`no answer for ${prompt} after ${turn} turns`);
  return answer;
}

function witnessedTools(witness: Witness): readonly AnyTool[] {
  const looking = (name: string): AnyTool => tool(name, { kind: 'read', replay: 'pure' }, () => {});
  const making = (name: string, kind: 'edit' | 'execute'): AnyTool =>
    tool(name, { kind, replay: 'opaque' }, (input) =>
      witness.made({ tool: name, token: JSON.stringify(input) }),
    );
  return [
    looking('Read'),
    making('Write', 'edit'),
    making('Edit', 'edit'),
    looking('Grep'),
    making('Bash', 'execute'),
  ];
}

function tool(
  name: string,
  { kind, replay }: Pick<AnyTool, 'kind' | 'replay'>,
  act: (input: JsonValue) => void,
): AnyTool {
  return {
    name,
    kind,
    replay,
    description: name,
    inputSchema: { type: 'object' },
    parse: (input) =>
      isJsonObject(input) ? { ok: true, input } : { ok: false, issues: ['input: no object'] },
    describe: () => ({ reads: [], writes: [], commands: [], hosts: [] }),
    run: async (input: JsonValue) => {
      act(input);
      // A real one takes its time, too: others go on meanwhile.
      await sleep(0);
      return { text: `${name} has run` };
    },
  };
}
