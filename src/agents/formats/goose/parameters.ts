import { dirname } from 'node:path';
import { isJsonObject, type JsonPrimitive, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition, AgentParameter } from '../../../protocol/agent.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { fieldText } from '../../fields/common.ts';

/** `{{ name }}`, with or without filters. */
const PLACEHOLDER = /\{\{-?\s*([A-Za-z_]\w*)/g;
/** The most parameters of an agent: no form that a person fills in has as many. */
const MAX_PARAMETERS = 100;

interface Template {
  readonly texts: readonly string[];
  /** The path of the recipe. */
  readonly path: string;
}

/**
 * Reads the recipe's `parameters`, and adds the placeholders in its texts that have none. The texts stay as they
 * are: the prompt of a task gives the values.
 */
export function readParameters(
  reader: FieldReader,
  { texts, path }: Template,
): Pick<AgentDefinition, 'parameters'> {
  const field = reader.take('parameters');
  const declared = (Array.isArray(field?.value) ? field.value : [])
    .map(parameter)
    .filter((each) => each !== undefined);
  const used = new Set(
    texts.flatMap((each) => [...each.matchAll(PLACEHOLDER)].map(([, name]) => name)),
  );
  const names = new Set(declared.map(({ name }) => name));
  const others = [...used]
    .filter((name) => name !== undefined && !names.has(name))
    .map((name) => undeclared(name ?? '', path));
  const parameters = [...declared, ...others].slice(0, MAX_PARAMETERS);
  if (parameters.length === 0) return {};
  const open = parameters.filter((each) => each.default === undefined && used.has(each.name));
  if (open.length > 0) {
    const listed = open.map(({ name }) => `\`{{ ${name} }}\``).join(', ');
    const message = `Its texts have the placeholders ${listed}: the prompt of a task must give their values.`;
    reader.warn('template-params', message, field?.line);
  }
  return { parameters };
}

function parameter(value: JsonValue): AgentParameter | undefined {
  const name = isJsonObject(value) ? fieldText(value['key']) : undefined;
  if (name === undefined || !isJsonObject(value)) return undefined;
  const options = Array.isArray(value['options'])
    ? value['options'].map((each) => fieldText(each))
    : [];
  const choice = options.length === 0 ? '' : ` One of: ${options.join(', ')}.`;
  const preset = value['default'] ?? null;
  return {
    name,
    description: `${fieldText(value['description']) ?? ''}${choice}`.trim(),
    ...(preset === null
      ? {}
      : { default: isPlain(preset) ? String(preset) : JSON.stringify(preset) }),
  };
}

function isPlain(value: JsonValue): value is JsonPrimitive {
  return typeof value !== 'object';
}

/** goose itself sets `recipe_dir`. */
function undeclared(name: string, path: string): AgentParameter {
  return name === 'recipe_dir'
    ? { name, description: 'The directory of the recipe.', default: dirname(path) }
    : { name, description: '' };
}
