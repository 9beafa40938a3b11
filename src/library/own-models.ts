import type { OwnModel } from '../api/index.ts';
import { UsageError } from '../base/errors.ts';
import { isLanguageModel } from '../protocol/language-model.ts';
import type { Message } from '../protocol/message.ts';
import { NO_USAGE, TIERS, type ModelPort } from '../protocol/model.ts';
import type { AgentFunction } from './agents.ts';
import type { Model, MusterOptions } from './options.ts';

/** The models of a program, and the settings that name them. */
export interface ProgramModels {
  readonly own: readonly OwnModel[];
  /** The model of the main agent as `--model` accepts it; null if none is named. */
  readonly main: string | null;
  /** The models of the tiers and of further names, as `--model` accepts them. */
  readonly named: ReadonlyMap<string, string>;
}

/** Sorts the models of the options into those that Muster knows by name and those that the program brings along. */
export function readProgramModels({
  model,
  models = {},
}: Pick<MusterOptions, 'model' | 'models'>): ProgramModels {
  const own: OwnModel[] = [];
  const add = (id: string, value: Model, where: string): string => {
    if (typeof value === 'string') return value;
    own.push({ id, source: readSource(value, where) });
    return `own/${id}`;
  };
  const named = new Map(
    Object.entries(models).map(([name, value]) => [name, add(name, value, `models.${name}`)]),
  );
  const main = model === undefined ? null : add(chooseId(model, named), model, 'model');
  return { own, main, named };
}

/** Chooses the id of the main model, which logs and reports show. */
function chooseId(model: Model, taken: ReadonlyMap<string, string>): string {
  const id = typeof model === 'object' && isLanguageModel(model) ? model.modelId : 'main';
  return taken.has(id) ? `${id} (main)` : id;
}

function readSource(value: object, where: string): OwnModel['source'] {
  if (isLanguageModel(value)) return { kind: 'language-model', model: value };
  if ('stream' in value && typeof value.stream === 'function')
    return { kind: 'port', port: value as ModelPort };
  throw new UsageError(
    `${where}: must be a model's name, a model object of the AI SDK, or a ModelPort with \`stream\``,
  );
}

/** Returns whether a name of `models` is that of a tier. */
export function isTier(name: string): boolean {
  return TIERS.some((tier) => tier === name);
}

/** Returns the id of the model that does the work of an agent function. */
export function toFunctionModelId(agent: string): string {
  return `agent:${agent}`;
}

/** Creates the model that does the work of an agent function. */
export function createFunctionModel(id: string, { run }: AgentFunction): OwnModel {
  const port: ModelPort = {
    async *stream({ messages }, signal) {
      yield { type: 'accepted' };
      const result = await run(findPrompt(messages), { signal, messages });
      const { text, usage } = typeof result === 'string' ? { text: result } : result;
      if (typeof text !== 'string')
        throw new TypeError('its run must return a text, or an object with a text');
      yield {
        type: 'finished',
        message: { role: 'assistant', content: [{ type: 'text', text }] },
        usage: { ...NO_USAGE, ...usage },
        ...(usage === undefined ? { usageMissing: 'all' } : {}),
        reason: 'stop',
      };
    },
  };
  return { id, source: { kind: 'function', port } };
}

/** Returns the text of the messages since the last answer. */
function findPrompt(messages: readonly Message[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(last + 1)
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .map(({ text }) => text)
    .join('\n\n');
}
