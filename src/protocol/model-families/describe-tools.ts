import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { PATCH_TOOL, TEXT_EDITING_TOOLS } from '../file-tools.ts';
import type { ToolSpec } from '../model.ts';
import type { AnyTool } from '../tool.ts';
import { MODEL_FAMILIES, type ModelFamily } from './model-families.ts';

/**
 * Selects the tools that are described to a family: some tools take the place of others. A family that does not write
 * patches has the tool that applies them only if it is the only tool that changes text.
 */
export function selectToolsOfFamily(
  tools: readonly AnyTool[],
  family: ModelFamily | null,
): readonly AnyTool[] {
  const replaces = family?.replaces ?? {};
  const replaced = new Set(tools.flatMap(({ name }) => replaces[name] ?? []));
  const changesTextOtherwise = tools.some(
    ({ name }) => name !== PATCH_TOOL && TEXT_EDITING_TOOLS.includes(name),
  );
  if (replaces[PATCH_TOOL] === undefined && changesTextOtherwise) replaced.add(PATCH_TOOL);
  return tools.filter(({ name }) => !replaced.has(name));
}

/** Describes tools to a family of models. The same tool always gives the same object. */
export function describeTools(
  tools: readonly AnyTool[],
  family: ModelFamily | null,
): readonly ToolSpec[] {
  const key = family?.name ?? '';
  const known = described.get(key) ?? new WeakMap<AnyTool, ToolSpec>();
  described.set(key, known);
  return tools.map((tool) => {
    const spec = known.get(tool) ?? describeTool(tool, family);
    known.set(tool, spec);
    return spec;
  });
}

const described = new Map<string, WeakMap<AnyTool, ToolSpec>>();

function describeTool(
  { name, description, inputSchema, grammar }: AnyTool,
  family: ModelFamily | null,
): ToolSpec {
  if (family === null) return { name, description, inputSchema };
  const { name: shapedName = name, arguments: names = {}, hint } = family.tools[name] ?? {};
  const text = renameArguments(renameTools(description, family), names);
  return {
    name: shapedName,
    description: hint === undefined ? text : `${text} ${hint}`,
    inputSchema: renameFields(inputSchema, names),
    ...(grammar === undefined ? {} : { grammar }),
  };
}

type ArgumentNames = Readonly<Record<string, string>>;

/** Replaces the names of arguments in the description of a tool. Before a colon or `order`, a word is no name. */
function renameArguments(text: string, names: ArgumentNames): string {
  return text.replaceAll(/\b[a-z_]+\b(?!:| order)/g, (word) => names[word] ?? word);
}

/** Replaces the names of tools in a text for the model, where the text names them as tools. */
export function renameTools(text: string, family: ModelFamily | null): string {
  if (family === null) return text;
  return text.replaceAll(TOOL_MENTION, (name) => {
    const replacing = Object.keys(family.replaces).find((tool) =>
      family.replaces[tool]?.includes(name),
    );
    const tool = replacing ?? name;
    return family.tools[tool]?.name ?? tool;
  });
}

/**
 * Matches names of tools in Muster's own texts. `Read`, `Write` and `Edit` are verbs at the beginning of a sentence.
 */
const TOOL_MENTION =
  /\b(?:MultiEdit|LS|Glob|Grep|Bash|TodoWrite|WebFetch|WebSearch)\b|(?<=\b(?:[Uu]se|[Pp]refer|and|or|than) |, )(?:Read|Write|Edit)\b/g;

/** Renames the properties of an object schema and of the objects in its lists, and puts them in the given order. */
function renameFields(schema: JsonObject, names: ArgumentNames): JsonObject {
  const { properties, required, items } = schema;
  return {
    ...schema,
    ...(isJsonObject(properties) ? { properties: renameProperties(properties, names) } : {}),
    ...(Array.isArray(required)
      ? { required: required.map((name) => names[String(name)] ?? name) }
      : {}),
    ...(isJsonObject(items) ? { items: renameFields(items, names) } : {}),
  };
}

function renameProperties(properties: JsonObject, names: ArgumentNames): JsonObject {
  const ordered = new Set([...Object.keys(names), ...Object.keys(properties)]);
  return Object.fromEntries(
    [...ordered].flatMap((name) => {
      const field = properties[name];
      if (field === undefined) return [];
      return [[names[name] ?? name, isJsonObject(field) ? renameFields(field, names) : field]];
    }),
  );
}

/**
 * Finds the tool that a model calls by the name that some family has for it.
 *
 * @returns Muster's name, or undefined if no family has a tool of this name
 */
export function findToolOfFamily(name: string): string | undefined {
  for (const { tools } of MODEL_FAMILIES) {
    const found = Object.entries(tools).find(([, shape]) => shape.name === name);
    if (found !== undefined) return found[0];
  }
  return undefined;
}

/**
 * Returns the arguments of a call under Muster's names, for those who display calls. The tools themselves accept the
 * names of every family.
 *
 * @param tool Muster's name of the tool
 */
export function toOwnArguments(tool: string, input: JsonObject): JsonObject {
  const names = MODEL_FAMILIES.flatMap(({ tools }) => Object.entries(tools[tool]?.arguments ?? {}));
  return restoreNames(input, new Map(names.map(([own, name]) => [name, own])));
}

function restoreNames(input: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      names.get(key) ?? key,
      Array.isArray(value)
        ? value.map((item: JsonValue) => (isJsonObject(item) ? restoreNames(item, names) : item))
        : value,
    ]),
  );
}
