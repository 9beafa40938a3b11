import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { Field, Fields } from '../../parsing/fields.ts';
import { readServerNames, SERVERS_FIELD } from '../../fields/server-names.ts';
import { fieldText } from '../../fields/common.ts';
import type { FormatReader } from '../../loader/format.ts';
import { readMarkdownAgent, type AgentDialect } from '../../fields/read-agent.ts';

const QWEN: AgentDialect = {
  vendor: 'qwen',
  inactive: ['executor', 'hooks', 'mcpServers', 'modelConfig', 'level'],
  own: { names: [SERVERS_FIELD], read: readServerNames },
  translate,
  complete: refuseExternalAgent,
};

/** Reads Qwen Code's `*.md` agents, which have Claude Code's fields and some additional ones. */
export const qwenReader: FormatReader = { read: (file) => readMarkdownAgent(file, QWEN) };

/**
 * Marks an agent that is meant for another program as unusable, because it must not run in Muster as if it were the
 * same agent.
 */
function refuseExternalAgent(agent: AgentDefinition, fields: Fields): AgentDefinition {
  const unusable = 'It runs in another program (`executor`), which Muster cannot do yet.';
  return fields.has('executor') ? { ...agent, unusable } : agent;
}

/** Translates the model of `modelConfig`, if there is no `model`, and the limits of `runConfig`. */
function translate(fields: Fields): Fields {
  const shared = new Map(fields);
  const modelConfig = fields.get('modelConfig');
  const model = isJsonObject(modelConfig?.value) ? modelConfig.value['model'] : undefined;
  if (modelConfig !== undefined && model !== undefined) {
    if (fieldText(fields.get('model')?.value) === undefined) {
      shared.set('model', { ...modelConfig, value: model });
    }
    keepRest(shared, 'modelConfig', modelConfig, ['model']);
  }
  const runConfig = fields.get('runConfig');
  if (!isJsonObject(runConfig?.value)) return shared;
  const minutes = runConfig.value['max_time_minutes'];
  if (minutes !== undefined) shared.set('timeout-mins', { ...runConfig, value: minutes });
  const turns = runConfig.value['max_turns'];
  // If there is also a `maxTurns`, the smaller of the two limits applies.
  if (turns !== undefined) shared.set('max-steps', { ...runConfig, value: turns });
  keepRest(shared, 'runConfig', runConfig, ['max_time_minutes', 'max_turns']);
  return shared;
}

/** Replaces an object by the values in it that were not taken. */
function keepRest(
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
