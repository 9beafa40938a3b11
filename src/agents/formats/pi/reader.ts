import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { Field, Fields } from '../../parsing/fields.ts';
import { readBoolean, fieldText, readSingleLine } from '../../fields/common.ts';
import type { FormatReader } from '../../loader/format.ts';
import { parseJsonc } from '../../../base/jsonc.ts';
import { addPermissionRules, translateToToolLists } from '../../permissions/permission-fields.ts';
import { readMarkdownAgent, type AgentDialect } from '../../fields/read-agent.ts';
import { splitToolList } from '../../fields/tool-grants.ts';

const VENDOR = 'pi';
const PROJECT_CONTEXT = 'inheritProjectContext';

const PI: AgentDialect = {
  vendor: VENDOR,
  inactive: (
    'acceptance acceptanceRole completionGuard defaultContext defaultProgress defaultReads extensions ' +
    'fallbackModels inheritProjectContext inheritSkills interactive maxSubagentDepth memory output ' +
    'outputMode package permission permissions runner skillPath subagentOnlyExtensions systemPromptMode ' +
    'timeoutMs toolBudget toolTimeoutMs turnBudget async alias skill'
  ).split(' '),
  translate,
  complete,
};

/** Reads pi's `*.md` agents, with the fields of its own example and of the pi-subagents extension. */
export const piReader: FormatReader = { read: (file) => readMarkdownAgent(file, PI) };

/**
 * Completes a definition from pi's own fields. An agent that is meant for another program is marked as unusable,
 * because it must not run in Muster as if it were the same agent.
 */
function complete(agent: AgentDefinition, fields: Fields): AgentDefinition {
  const ruled = addPermissionRules(agent, fields, { vendor: VENDOR });
  const completed = {
    ...ruled,
    ...(forbidsDelegation(fields)
      ? { disallowedTools: [...new Set([...ruled.disallowedTools, 'Task'])] }
      : {}),
    ...(forbidsContext(fields) ? { contextFiles: false } : {}),
  };
  const runner = fields.get('runner')?.value ?? null;
  const type = isJsonObject(runner) ? readSingleLine(runner['type']) : readSingleLine(runner);
  if (runner === null || type === 'pi') return completed;
  return {
    ...completed,
    unusable: 'It runs in another program (`runner`), which Muster cannot do yet.',
  };
}

function forbidsDelegation(fields: Fields): boolean {
  return readSingleLine(fields.get('maxSubagentDepth')?.value) === '0';
}

function forbidsContext(fields: Fields): boolean {
  return readBoolean(fields.get(PROJECT_CONTEXT)?.value ?? null) === false;
}

function translate(fields: Fields): Fields {
  const shared = new Map(translateToToolLists(renameServerTools(fields), VENDOR));
  rename(shared, 'alias', 'aliases');
  rename(shared, 'skill', 'skills');
  rename(shared, 'async', 'background');
  const packageName = fieldText(fields.get('package')?.value);
  const name = fields.get('name');
  const localName = fieldText(name?.value);
  if (packageName !== undefined && localName !== undefined) {
    shared.set('name', { value: `${packageName}.${localName}`, line: name?.line });
    shared.delete('package');
  }
  setThinking(shared);
  setModels(shared);
  setLimits(shared);
  if (forbidsDelegation(fields)) shared.delete('maxSubagentDepth');
  if (forbidsContext(fields)) shared.delete(PROJECT_CONTEXT);
  return shared;
}

function rename(fields: Map<string, Field>, from: string, to: string): void {
  const field = fields.get(from);
  if (field === undefined || fields.has(to)) return;
  fields.delete(from);
  fields.set(to, field);
}

/** Translates `mcp:SERVER` and `mcp:SERVER/TOOL` into the names that all formats share. */
function renameServerTools(fields: Fields): Fields {
  const tools = fields.get('tools');
  const words = splitToolList(tools?.value ?? null);
  if (tools === undefined || words?.some((each) => each.startsWith('mcp:')) !== true) return fields;
  const value = words.map((each) => {
    const [, server, tool] = /^mcp:([^/]+)(?:\/(.+))?$/.exec(each) ?? [];
    return server === undefined ? each : `mcp__${server}__${tool ?? '*'}`;
  });
  return new Map([...fields, ['tools', { ...tools, value }]]);
}

/** Translates `thinking: false`, and a level that follows the name of the model: `some-model:high`. */
function setThinking(fields: Map<string, Field>): void {
  const thinking = fields.get('thinking');
  if (thinking !== undefined && readBoolean(thinking.value) === false) {
    fields.set('thinking', { ...thinking, value: 'off' });
  }
  const model = fields.get('model');
  const [, name, level] = MODEL_WITH_LEVEL.exec(readSingleLine(model?.value) ?? '') ?? [];
  if (model === undefined || name === undefined || level === undefined) return;
  fields.set('model', { ...model, value: name });
  fields.set('thinking', { ...model, value: level });
}

const MODEL_WITH_LEVEL = /^(.+):(off|minimal|low|medium|high|xhigh|max)$/;

/** Joins the model and its fallback models to one list. The first available model of the list is used. */
function setModels(fields: Map<string, Field>): void {
  const model = fields.get('model');
  const first = readSingleLine(model?.value);
  const others = splitToolList(fields.get('fallbackModels')?.value ?? null) ?? [];
  if (model === undefined || first === undefined || others.length === 0) return;
  fields.set('model', { ...model, value: [first, ...others] });
  fields.delete('fallbackModels');
}

/**
 * Translates `timeoutMs` into a limit in minutes, and `turnBudget` (an object, or its JSON text) into a limit of turns.
 */
function setLimits(fields: Map<string, Field>): void {
  const timeout = fields.get('timeoutMs');
  const ms = Number(readSingleLine(timeout?.value));
  if (timeout !== undefined && ms > 0) {
    fields.delete('timeoutMs');
    fields.set('timeout-mins', { ...timeout, value: ms / 60_000 });
  }
  const budget = fields.get('turnBudget');
  const turns = readMaxTurns(budget?.value ?? null);
  if (budget === undefined || turns === undefined) return;
  fields.delete('turnBudget');
  fields.set('max-turns', { ...budget, value: turns });
}

function readMaxTurns(value: JsonValue): JsonValue | undefined {
  if (isJsonObject(value)) return value['maxTurns'];
  const parsed = typeof value === 'string' ? parseJsonc(value) : undefined;
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value['maxTurns'] : undefined;
}
