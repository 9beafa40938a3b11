import { expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/json.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import {
  findModelFamily,
  MODEL_FAMILIES,
} from '../../../src/protocol/model-families/model-families.ts';
import {
  describeTools,
  findToolOfFamily,
  renameTools,
  selectToolsOfFamily,
} from '../../../src/protocol/model-families/describe-tools.ts';

const tools = builtinTools();

it.each([
  ['gpt-5.2-codex', 'openai'],
  ['openai/gpt-5', 'openai'],
  ['o3', 'openai'],
  ['gemini-3-pro-preview', 'gemini'],
  ['Qwen/Qwen3-Coder-480B', 'qwen'],
  ['kimi-k2-thinking', 'kimi'],
  ['claude-sonnet-5', undefined],
  ['glm-5', undefined],
  ['deepseek-v3.2', undefined],
  ['gpt-oss-120b', undefined],
  ['octopus-1', undefined],
])('the family of %s is %s', (model, family) => {
  expect(findModelFamily(model)?.name).toBe(family);
});

it.each([
  ['claude-sonnet-5', 'openai', 'openai'],
  ['gpt-5.2', 'kimi', 'kimi'],
  ['gpt-5.2', 'muster', undefined],
  ['gpt-5.2', 'auto', 'openai'],
])('the family of %s with the setting %s is %s', (model, choice, family) => {
  expect(findModelFamily(model, choice)?.name).toBe(family);
});

/** Writes a value that a schema accepts, with the names of the schema. */
function exampleOf(schema: JsonObject): JsonValue {
  const { type, properties, items } = schema;
  if (isJsonObject(properties)) {
    return Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [
        name,
        isJsonObject(field) ? exampleOf(field) : null,
      ]),
    );
  }
  if (type === 'array') return isJsonObject(items) ? [exampleOf(items)] : [];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  return type === 'boolean' ? true : type === 'integer' ? 3 : 'text';
}

it.each(MODEL_FAMILIES)(
  'calls in the form of $name mean the same as in the form of Muster',
  (family) => {
    for (const tool of tools.filter(({ name }) => name in family.tools)) {
      const [own] = describeTools([tool], null);
      const [shaped] = describeTools([tool], family);
      if (own === undefined || shaped === undefined) throw new Error(tool.name);
      expect(findToolOfFamily(shaped.name), tool.name).toBe(tool.name);
      if (tool.name === 'PatchFiles') continue;
      const [ownCall, shapedCall] = [own, shaped].map((spec) => exampleOf(spec.inputSchema));
      if (ownCall === undefined || shapedCall === undefined) throw new Error(tool.name);
      const parsed = tool.parse(ownCall);
      expect(parsed, tool.name).toMatchObject({ ok: true });
      expect(tool.parse(shapedCall), tool.name).toEqual(parsed);
    }
  },
);

it.each(MODEL_FAMILIES)('the names of $name are those of no other tool', (family) => {
  const names = Object.values(family.tools).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

it.each([...MODEL_FAMILIES.map(({ name }) => name), 'others'])(
  'the tools that are described to %s',
  (name) => {
    const family = MODEL_FAMILIES.find((each) => each.name === name) ?? null;
    const core = tools.filter(({ name }) =>
      [
        'Read',
        'Write',
        'Edit',
        'MultiEdit',
        'PatchFiles',
        'LS',
        'Glob',
        'Grep',
        'Bash',
        'TodoWrite',
      ].includes(name),
    );
    const specs = describeTools(selectToolsOfFamily(core, family), family);
    expect(
      specs.map(({ name, description, inputSchema, grammar }) => ({
        name,
        description,
        arguments: Object.keys(Object(inputSchema['properties'])),
        required: inputSchema['required'],
        hasGrammar: grammar !== undefined,
      })),
    ).toMatchSnapshot();
  },
);

it('describes the tool for patches to every family if a task can change text with no other tool', () => {
  const named = (...names: readonly string[]) => tools.filter(({ name }) => names.includes(name));
  for (const family of [null, ...MODEL_FAMILIES]) {
    expect(selectToolsOfFamily(named('PatchFiles', 'Read'), family)).toEqual(
      named('PatchFiles', 'Read'),
    );
    const [tool] = selectToolsOfFamily(named('PatchFiles', 'Write'), family);
    expect(tool?.name).toBe(family?.name === 'openai' ? 'PatchFiles' : 'Write');
  }
});

it('names tools in texts as the family does, but no verbs', () => {
  const text =
    'Read a file before you change it. Prefer Read, Glob and the edit tools. Use Edit or Write.';
  expect(renameTools(text, findModelFamily('gemini-3-pro'))).toBe(
    'Read a file before you change it. Prefer read_file, glob and the edit tools. Use replace or write_file.',
  );
  expect(renameTools(text, null)).toBe(text);
});
