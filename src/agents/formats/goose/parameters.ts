import { dirname } from 'node:path';
import { isJsonObject, type JsonPrimitive, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition, AgentParameter } from '../../../protocol/agent.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { text } from '../../fields/common.ts';

/** `{{ name }}`, with filters or without. */
const PLACE = /\{\{-?\s*([A-Za-z_]\w*)/g;
/** Parameters of one agent; no form that a person fills in has as many. */
const MAX_PARAMETERS = 100;

interface Template {
  readonly texts: readonly string[];
  /** Of the recipe. */
  readonly path: string;
}

/**
 * What the texts leave open, by the recipe's `parameters` and by what stands in them without one. The
 * texts stay as they are: which value goes where the task says.
 */
export function readParameters(
  reader: FieldReader,
  { texts, path }: Template,
): Pick<AgentDefinition, 'parameters'> {
  const field = reader.take('parameters');
  const declared = (Array.isArray(field?.value) ? field.value : [])
    .map(parameter)
    .filter((each) => each !== undefined);
  const used = new Set(texts.flatMap((each) => [...each.matchAll(PLACE)].map(([, name]) => name)));
  const names = new Set(declared.map(({ name }) => name));
  const others = [...used]
    .filter((name) => name !== undefined && !names.has(name))
    .map((name) => undeclared(name ?? '', path));
  const parameters = [...declared, ...others].slice(0, MAX_PARAMETERS);
  if (parameters.length === 0) return {};
  const open = parameters.filter((each) => each.default === undefined && used.has(each.name));
  if (open.length > 0) {
    const listed = open.map(({ name }) => `\`{{ ${name} }}\``).join(', ');
    const message = `Its texts leave open ${listed}: a task for it must say what they are.`;
    reader.warn('template-params', message, field?.line);
  }
  return { parameters };
}

function parameter(value: JsonValue): AgentParameter | undefined {
  const name = isJsonObject(value) ? text(value['key']) : undefined;
  if (name === undefined || !isJsonObject(value)) return undefined;
  const options = Array.isArray(value['options']) ? value['options'].map((each) => text(each)) : [];
  const choice = options.length === 0 ? '' : ` One of: ${options.join(', ')}.`;
  const preset = value['default'] ?? null;
  return {
    name,
    description: `${text(value['description']) ?? ''}${choice}`.trim(),
    ...(preset === null
      ? {}
      : { default: isPlain(preset) ? String(preset) : JSON.stringify(preset) }),
  };
}

function isPlain(value: JsonValue): value is JsonPrimitive {
  return typeof value !== 'object';
}

/** goose itself fills in where the recipe lies. */
function undeclared(name: string, path: string): AgentParameter {
  return name === 'recipe_dir'
    ? { name, description: 'The directory of the recipe.', default: dirname(path) }
    : { name, description: '' };
}
