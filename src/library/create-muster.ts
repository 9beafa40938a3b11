import {
  loadProgramSupport,
  loadSessions,
  type ProgramStorePart,
  type Session,
  type SessionOptions,
} from '../api/index.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/async.ts';
import { errorMessage, UsageError } from '../base/errors.ts';
import { dropMissing } from '../base/drop-missing.ts';
import { isAgentFunction } from './agents.ts';
import { answerQuestions } from './answer-questions.ts';
import { checkFields, checkValues } from './check-fields.ts';
import type { Muster } from './contract.ts';
import type { MusterConfig } from './config.ts';
import { createInstance } from './create-instance.ts';
import { prepareTool } from './define-tool.ts';
import { readFunctionHooks } from './function-hooks.ts';
import type { MusterOptions } from './options.ts';
import {
  createFunctionModel,
  isTier,
  readProgramModels,
  toFunctionModelId,
  type ProgramModels,
} from './own-models.ts';
import { readAgents } from './read-agents.ts';
import type { StorePort } from '../protocol/store-port.ts';
import type { FlagValue } from '../config/text-layer.ts';

const STORE_METHODS = [
  'create',
  'claim',
  'append',
  'watch',
  'requestCancel',
  'list',
  'putBlob',
  'getBlob',
] as const satisfies readonly (keyof StorePort)[];

/**
 * Creates an instance of Muster. Throws UsageError for a wrong option or configuration, and if no model is named.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 *
 * await using muster = await createMuster({
 *   model: 'anthropic/claude-sonnet-4-5',
 *   environment: process.env,
 *   allow: ['Bash(npm test:*)'],
 * });
 * const { output, data } = await muster.run('Which files read the configuration?');
 * console.log(output, data.cost_usd);
 */
export async function createMuster(options: MusterOptions): Promise<Muster> {
  checkOptions(options);
  const models = readProgramModels(options);
  if (models.main === null && options.inherit !== true) {
    throw new UsageError(
      'createMuster: name a model (`model: "provider/id"`, a model object of the AI SDK, or a ModelPort), or set `inherit: true` to use what the user has configured',
    );
  }
  const opened = deferred<Session>();
  const [{ openSession }, sessionOptions] = await Promise.all([
    loadSessions(),
    toSessionOptions(options, {
      models,
      async onCancelRequested(id) {
        await (
          await opened.promise
        ).stopTask(id, 'its stop was requested in the store of the program');
      },
    }),
  ]);
  const session = await openSession(sessionOptions);
  opened.resolve(session);
  const stopAnswering =
    options.onQuestion === undefined ? () => {} : answerQuestions(session, options.onQuestion);
  return createInstance(session, {
    hasContext: options.context !== undefined,
    hasStore: options.store !== undefined,
    stopAnswering,
  });
}

function checkOptions(options: MusterOptions): void {
  checkFields(options, 'createMuster', {
    inherit: 'boolean',
    model: ['string', 'object'],
    models: 'object',
    cwd: 'string',
    addDirs: 'array of strings',
    dataDir: 'string',
    store: 'object',
    clock: 'object',
    agents: 'object',
    tools: 'array',
    context: 'object',
    mode: 'string',
    allow: 'array of strings',
    ask: 'array of strings',
    deny: 'array of strings',
    onQuestion: 'function',
    policy: 'function',
    hooks: 'object',
    trustProject: ['boolean', 'function'],
    environment: 'object',
    config: 'object',
    onNotice: 'function',
  });
  if (options.store !== undefined && options.dataDir !== undefined)
    throw new UsageError('createMuster: give dataDir or store, not both');
  checkValues(options.models ?? {}, 'createMuster: models', ['string', 'object']);
  checkValues(options.context ?? {}, 'createMuster: context', ['string', 'function']);
  checkValues(options.environment ?? {}, 'createMuster: environment', ['string']);
  checkValues(options.agents ?? {}, 'createMuster: agents', ['object']);
  if (options.clock !== undefined) checkClock(options.clock);
}

function checkClock(clock: Partial<Clock>): void {
  for (const name of ['now', 'monotonic'] as const) {
    if (!Number.isFinite(clock[name]?.()))
      throw new UsageError(
        `createMuster: clock.${name} must be a function that returns a time in milliseconds`,
      );
  }
}

/** Keeps an error of `onNotice` from ending the work that the line is about. The first one becomes a warning of the process. */
function guardNotices(onNotice: (line: string) => void): (line: string) => void {
  let hasWarned = false;
  return (line) => {
    // The function may be asynchronous, although its type says otherwise.
    const call = async (): Promise<void> => await onNotice(line);
    void call().catch((thrown: unknown) => {
      if (hasWarned) return;
      hasWarned = true;
      process.emitWarning(`createMuster: onNotice threw an error: ${errorMessage(thrown)}`);
    });
  };
}

/** Checks a store of a program. Throws UsageError that names a missing method. */
function readStore(
  port: StorePort,
  onCancelRequested: (id: string) => Promise<void>,
): ProgramStorePart {
  const missing = STORE_METHODS.find((name) => typeof port[name] !== 'function');
  if (missing !== undefined)
    throw new UsageError(`createMuster: store.${missing} is missing; it must be a function`);
  return { port, onCancelRequested: (id) => void onCancelRequested(id) };
}

interface ProgramSetup {
  readonly models: ProgramModels;
  readonly onCancelRequested: (id: string) => Promise<void>;
}

async function toSessionOptions(
  options: MusterOptions,
  { models, onCancelRequested }: ProgramSetup,
): Promise<SessionOptions> {
  const support = await loadProgramSupport();
  const { inherit = false, agents = {}, tools = [], context = {}, environment } = options;
  const programTools = await Promise.all(
    tools.map((tool, index) => prepareTool(tool, `createMuster: tools[${index}]`)),
  );
  const names = programTools.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`createMuster: two tools have the name ${twice}`);
  const functions = Object.entries(agents).flatMap(([name, agent]) =>
    isAgentFunction(agent) ? [createFunctionModel(toFunctionModelId(name), agent)] : [],
  );
  const environments = support.createProgramEnvironments({
    inherit,
    ...dropMissing({ environment }),
  });
  const keepsLogs = options.dataDir !== undefined;
  return {
    ...dropMissing({
      cwd: options.cwd,
      addDirs: options.addDirs,
      dataDir: options.dataDir,
      trustProject: options.trustProject,
      onNotice: options.onNotice && guardNotices(options.onNotice),
      // With `inherit`, the user's data directory is used as the command line uses it.
      log: inherit && !keepsLogs && options.store === undefined ? null : keepsLogs,
    }),
    environment: environments.session,
    flags: listFlags(options),
    agents: readAgents(agents, { models, tools: new Set(names), read: support.readProgramAgents }),
    questions: options.onQuestion === undefined ? 'deny' : 'wait',
    program: {
      tools: programTools.map((tool) => support.createProgramTool(tool)),
      models: [...models.own, ...functions],
      config: addModels(options.config ?? {}, models),
      commandEnvironment: environments.commands,
      ...dropMissing({ clock: options.clock }),
      ...dropMissing({ store: options.store && readStore(options.store, onCancelRequested) }),
      hooks: readFunctionHooks(options).map((hook) => support.createFunctionHook(hook)),
      context: Object.entries(context).map(([name, text]) => ({
        name,
        read: typeof text === 'string' ? () => text : text,
      })),
    },
  };
}

/** Adds the models of the options to the configuration. */
function addModels(
  config: MusterConfig,
  { main, named }: ProgramModels,
): Readonly<Record<string, unknown>> {
  const tiers = Object.fromEntries([...named].filter(([name]) => isTier(name)));
  const models = { ...config.models, ...tiers, ...dropMissing({ default: main }) };
  return { ...config, ...(Object.keys(models).length === 0 ? {} : { models }) };
}

function listFlags({ mode, allow = [], ask = [], deny = [] }: MusterOptions): readonly FlagValue[] {
  return [
    ...(mode === undefined ? [] : [{ key: 'permissions.mode', flag: 'mode', text: mode } as const]),
    ...allow.map((text) => ({ key: 'permissions.allow', flag: 'allow', text }) as const),
    ...ask.map((text) => ({ key: 'permissions.ask', flag: 'ask', text }) as const),
    ...deny.map((text) => ({ key: 'permissions.deny', flag: 'deny', text }) as const),
  ];
}
