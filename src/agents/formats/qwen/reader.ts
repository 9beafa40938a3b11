import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { Field, Fields } from '../../parsing/fields.ts';
import { text } from '../../fields/common.ts';
import type { FormatReader } from '../../loader/format.ts';
import { CLAUDE_MODES } from '../../fields/modes.ts';
import type { Dialect } from '../../fields/read-agent.ts';
import { readMarkdownAgent } from '../../fields/read-agent.ts';

const QWEN: Dialect = {
  vendor: 'qwen',
  modes: CLAUDE_MODES,
  limits: [],
  inactive: ['executor', 'hooks', 'mcpServers', 'modelConfig', 'isolation', 'level'],
  loadsBareText: false,
  translate,
  complete: asExternal,
};

/** Qwen Code's `*.md` agents: Claude Code's fields and some of its own. */
export const qwenReader: FormatReader = { read: (file) => readMarkdownAgent(file, QWEN) };

/** To run here what is meant for another program would put one agent in another's place. */
function asExternal(agent: AgentDefinition, fields: Fields): AgentDefinition {
  const unusable = 'It runs in another program (`executor`), which Muster cannot do yet.';
  return fields.has('executor') ? { ...agent, unusable } : agent;
}

/** The model of `modelConfig`, where `model` says nothing, and the limits of `runConfig`. */
function translate(fields: Fields): Fields {
  const shared = new Map(fields);
  const modelConfig = fields.get('modelConfig');
  const model = isJsonObject(modelConfig?.value) ? modelConfig.value['model'] : undefined;
  if (modelConfig !== undefined && model !== undefined) {
    if (text(fields.get('model')?.value) === undefined) {
      shared.set('model', { ...modelConfig, value: model });
    }
    setRest(shared, 'modelConfig', modelConfig, ['model']);
  }
  const runConfig = fields.get('runConfig');
  if (!isJsonObject(runConfig?.value)) return shared;
  const minutes = runConfig.value['max_time_minutes'];
  if (minutes !== undefined) shared.set('timeout-mins', { ...runConfig, value: minutes });
  const turns = runConfig.value['max_turns'];
  // Beside Claude Code's `maxTurns`: the smaller one of the two counts.
  if (turns !== undefined) shared.set('max-steps', { ...runConfig, value: turns });
  setRest(shared, 'runConfig', runConfig, ['max_time_minutes', 'max_turns']);
  return shared;
}

/** What of an object is not taken stays under its name. */
function setRest(
  fields: Map<string, Field>,
  key: string,
  field: Field & { readonly value: JsonObject | Field['value'] },
  taken: readonly string[],
): void {
  if (!isJsonObject(field.value)) return;
  const rest = Object.entries(field.value).filter(([name]) => !taken.includes(name));
  if (rest.length === 0) fields.delete(key);
  else fields.set(key, { ...field, value: Object.fromEntries(rest) });
}
