import type { WorkspaceChanges } from '../../src/sys/files/changes/workspace-changes.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { Deadlines } from '../../src/base/deadlines.ts';
import type { ModelChooser } from '../../src/engine/task/deps.ts';
import { Engine } from '../../src/engine/engine.ts';
import { Inbox, type ModeGrantStore, type StandingRules } from '../../src/engine/task/inbox.ts';
import type { OnAsk } from '../../src/protocol/question.ts';
import type { MemorySource } from '../../src/engine/memory/memory-source.ts';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import type { TaskRun } from '../../src/engine/task/task-run.ts';
import { createScriptedModel, type ModelScript, type ScriptedModel } from '../scripted-model.ts';
import { createRootRights as narrowedRights } from '../../src/policy/attenuate.ts';
import type { AgentDefinition } from '../../src/protocol/agent.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { HookPort } from '../../src/protocol/hook.ts';
import type {
  ModelDetails,
  ModelPort,
  ModelRequest,
  ResolvedModel,
} from '../../src/protocol/model.ts';
import type { PermissionMode, PermissionRule, Rights } from '../../src/protocol/permission.ts';
import type { QuotedItem } from '../../src/protocol/quoted-item.ts';
import type { SkillDefinition } from '../../src/protocol/skill.ts';
import type { SlashCommandDefinition } from '../../src/protocol/slash-command.ts';
import type { AnyTool } from '../../src/protocol/tool.ts';
import { openMemoryStore } from '../../src/store/memory-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import { VirtualDeadlines, type VirtualTime } from './virtual-time.ts';
import type { EngineSettings } from '../../src/engine/limits/configured-limits.ts';
import type { ContextSource } from '../../src/protocol/project-context.ts';
import { answerQuestion } from '../../src/engine/questions/record-answer.ts';
import { foldEvents } from '../../src/protocol/state/fold.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

export const MODEL: ResolvedModel = { provider: 'scripted', id: 'one', chain: ['test'] };
const FACTS: ModelDetails = { contextWindow: null, maxOutput: 100, price: null };
const NO_LIMITS = { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };

export const SETTINGS: EngineSettings = {
  taskTools: true,
  maxDepth: 3,
  listedServerToolBytes: 35_000,
  modelFamily: 'auto',
  nested: true,
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
  retries: 2,
  silentRetries: 2,
  noProgressCalls: 8,
  maxWaitMs: 0,
  cacheHoldMs: 0,
  reusesResults: false,
  caps: { resultBytes: 30_000, readBytes: 262_144, spillBytes: 1_000_000, toolMs: 600_000 },
  commandVariables: [],
};

const RULE_SOURCE = { kind: 'flag', where: '--ask' } as const;

/** A worker that can delegate. */
export const WORKER: AgentDefinition = {
  ...MAIN_AGENT,
  name: 'general-purpose',
  prompt: 'You work.',
  origin: { scope: 'session', vendor: 'muster', path: 'session:worker' },
};

/** Returns the widest rights of a root task. */
export function rootRights(maxDepth: number): Rights {
  return {
    mode: 'autonomous',
    rules: { allow: [], ask: [], deny: [] },
    disallowedTools: [],
    roots: ['/'],
    network: false,
    depth: 0,
    maxDepth,
  };
}

export interface EngineSetup {
  readonly settings?: Partial<EngineSettings>;
  readonly tools?: readonly AnyTool[];
  /** The source of context files. Default: tasks know only the path of their directory. */
  readonly context?: ContextSource;
  /** Default: none. */
  readonly skills?: readonly SkillDefinition[];
  /** Default: agents have no notes. */
  readonly memory?: MemorySource;
  /** Default: no hook runs. */
  readonly hooks?: HookPort;
  /** The slash commands of the user. Default: none. */
  readonly slashCommands?: readonly SlashCommandDefinition[];
  readonly mode?: PermissionMode;
  /** Tools whose calls always need an answer of the user. */
  readonly ask?: readonly string[];
  readonly deny?: readonly PermissionRule[];
  /** The working directory, which is the only root. Default: the full disk. */
  readonly root?: string;
  /** Default: `deny`. */
  readonly onAsk?: OnAsk;
  readonly standing?: StandingRules;
  readonly modeGrants?: ModeGrantStore;
  /** True if a plain no to the main agent ends its turn. Default: false. */
  readonly isUserPresent?: boolean;
  /** The agent of the root task. Default: the main agent. */
  readonly agent?: AgentDefinition;
  /** The agents to which tasks can delegate besides the worker. */
  readonly agents?: readonly AgentDefinition[];
  /** Default: all tasks have the same model. */
  readonly forTask?: ModelChooser['forTask'];
  /** Default: no model can search the web. */
  readonly canSearchWeb?: (model: ResolvedModel) => boolean;
  /** The fallback models. Default: none. */
  readonly fallbacks?: ModelChooser['fallbacks'];
  /** The details of models. Default: no price, and at most 100 tokens of output. */
  readonly facts?: (model: ResolvedModel) => Promise<ModelDetails>;
  /** The store of another engine, whose tasks this engine can resume. Default: a new store. */
  readonly store?: TaskStore;
  /** The same redaction as in the store. Default: nothing is redacted. */
  readonly redact?: (text: string) => string;
  /** Changes the store before the engine gets it. */
  readonly prepareStore?: (store: TaskStore) => void;
  /** Wraps the scripted model for the engine. */
  readonly changes?: () => Promise<WorkspaceChanges>;
  readonly wrapModel?: (model: ModelPort) => ModelPort;
  /** The available memory in bytes. Default: that of the system. */
  readonly availableMemory?: () => number;
  /** The clock and deadlines. Default: real time. */
  readonly time?: VirtualTime;
  /** The clock. Default: `time`. The deadlines stay those of real time. */
  readonly clock?: Clock;
  /** Default: a fault fails the test. */
  readonly onFault?: (thrown: unknown) => void;
}

export interface TestEngine {
  readonly engine: Engine;
  readonly model: ScriptedModel;
  readonly store: TaskStore;
  readonly inbox: Inbox;
  /** All events, in the order in which they were published. */
  readonly events: TaskEvent[];
  /** @param enclosed the items that the person sends along. Default: none */
  start(prompt: string, enclosed?: readonly QuotedItem[]): TaskRun;
}

/** Creates the real engine with a store in memory and a scripted model. */
export function testEngine(script: ModelScript, setup: EngineSetup = {}): TestEngine {
  const model = createScriptedModel(script);
  const { redact } = setup;
  const redaction = redact === undefined ? {} : { redact };
  const store = setup.store ?? openMemoryStore(redaction);
  setup.prepareStore?.(store);
  const events: TaskEvent[] = [];
  const inbox = new Inbox({
    onAsk: setup.onAsk ?? 'deny',
    standing: setup.standing ?? null,
    ...(setup.modeGrants === undefined ? {} : { modeGrants: setup.modeGrants }),
    isUserPresent: setup.isUserPresent ?? false,
  });
  const engine = new Engine({
    store,
    ...redaction,
    model: setup.wrapModel?.(model) ?? model,
    models: {
      forTask:
        setup.forTask ??
        (({ call, parent }) => (call === 'inherit' ? parent : { ...MODEL, id: call ?? MODEL.id })),
      ...(setup.canSearchWeb === undefined ? {} : { canSearchWeb: setup.canSearchWeb }),
      fallbacks: setup.fallbacks ?? (() => []),
      details: setup.facts ?? (async () => FACTS),
      outputLimit: () => FACTS.maxOutput,
    },
    tools: setup.tools ?? [waitTool],
    agents: { refresh: async () => {}, agents: () => [WORKER, ...(setup.agents ?? [])] },
    skills: { refresh: async () => {}, skills: () => setup.skills ?? [] },
    ...(setup.memory === undefined ? {} : { memory: setup.memory }),
    ...(setup.hooks === undefined ? {} : { hooks: setup.hooks }),
    ...createCommandSource(setup),
    ...(setup.context === undefined ? {} : { context: setup.context }),
    ...(setup.changes === undefined ? {} : { changes: setup.changes }),
    ...(setup.availableMemory === undefined ? {} : { availableMemory: setup.availableMemory }),
    clock: setup.clock ?? setup.time ?? systemClock,
    deadlines:
      setup.time === undefined ? new Deadlines(systemClock) : new VirtualDeadlines(setup.time),
    settings: { ...SETTINGS, ...setup.settings },
    platform: 'linux',
    home: '/home/me',
    stateDirectories: [],
    sandboxed: () => Promise.resolve(true),
    sandbox: createUnavailableSandbox('a test', 'none is needed'),
    inbox,
    onEvent: (event) => void events.push(event),
    onSignal: () => {},
    onFault: (_, thrown) => {
      if (setup.onFault === undefined) throw thrown;
      setup.onFault(thrown);
    },
  });
  const ask = (setup.ask ?? []).map((tool) => ({ text: tool, tool, source: RULE_SOURCE }));
  const whole = rootRights(setup.settings?.maxDepth ?? SETTINGS.maxDepth);
  const grant = {
    ...whole,
    mode: setup.mode ?? whole.mode,
    rules: { ...whole.rules, ask, deny: setup.deny ?? [] },
    roots: [setup.root ?? '/'],
  };
  const rights = narrowedRights(grant, setup.agent ?? null);
  return {
    engine,
    model,
    store,
    inbox,
    events,
    start: (prompt, enclosed = []) =>
      engine.start({
        prompt,
        rights,
        cwd: setup.root ?? '/',
        params: {},
        agent: setup.agent ?? MAIN_AGENT,
        model: MODEL,
        source: 'sdk',
        enclosed,
      }),
  };
}

function createCommandSource({ slashCommands }: EngineSetup) {
  if (slashCommands === undefined) return {};
  const found = { items: slashCommands, shadowed: [], problems: [] };
  return { slashCommands: { refresh: async () => {}, commands: () => found } };
}

/**
 * A tool that waits for a number of milliseconds and stops when it is aborted. It has the name of a core tool, so
 * that tasks get it.
 */
export const waitTool: AnyTool = {
  name: 'Bash',
  kind: 'execute',
  replay: 'opaque',
  description: 'wait',
  inputSchema: { type: 'object' },
  parse: (input) => ({ ok: true, input }),
  describe: () => ({ reads: [], writes: [], commands: ['sleep 1'], hosts: [] }),
  run: async (input: { readonly ms?: number }, context) => {
    try {
      await sleep(input.ms ?? 0, undefined, { signal: context.signal });
      return { text: 'waited' };
    } catch {
      return { text: 'stopped', error: 'CANCELLED' };
    }
  },
};

/** Returns the prompt of a request's task. */
export function promptOf(request: ModelRequest): string {
  const [first] = request.messages;
  return first?.role === 'user' ? first.content.map(({ text }) => text).join('\n') : '';
}

/** Counts the answers whose results are in a request. */
export function answeredRounds(request: ModelRequest): number {
  return request.messages.filter(({ role }) => role === 'tool').length;
}

/** Returns the state of each task, folded from the published events. */
export function statesOf(events: readonly TaskEvent[]): ReadonlyMap<string, TaskState> {
  const byTask = Map.groupBy(events, ({ task }) => task);
  return new Map([...byTask].map(([task, its]) => [task, foldEvents(its)]));
}

/** Answers all questions with this text, each after `ms` milliseconds. */
export function answerAll(inbox: Inbox, text: string, ms = 1): void {
  inbox.listen(() => {
    for (const { question } of inbox.open()) {
      setTimeout(() => {
        if (inbox.open().some((open) => open.question.id === question.id)) {
          answerQuestion(inbox, question.id, { text });
        }
      }, ms);
    }
  });
}
