import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createGenerator, type Schema } from 'ts-json-schema-generator';

const root = dirname(import.meta.dirname);

/** The types that programs get or write as JSON, by the names that `muster schema` has for them. */
const TYPES = {
  agent: 'AgentDetails',
  event: 'TaskEvent',
  input: 'InputLine',
  result: 'ResultEnvelope',
  stream: 'StreamLine',
  task: 'ListedTask',
};

const FILES = [
  'api/agents/show.ts',
  'front/cli/commands/tasks/list.ts',
  'protocol/events/event.ts',
  'protocol/input-line.ts',
  'protocol/result.ts',
  'protocol/stream-line.ts',
];

type Definitions = NonNullable<Schema['definitions']>;

/** Writes the JSON Schemas (draft 7) of those types, with their comments, as `NAME.json` each. */
export function writeSchemas(directory: string): void {
  const generator = createGenerator({
    path: `${root}/src/{${FILES.join()}}`,
    tsconfig: join(root, 'tsconfig.json'),
    // The type checker has its own step.
    skipTypeCheck: true,
    topRef: false,
    // Later versions add fields; a reader of today keeps them.
    additionalProperties: true,
  });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(directory, { recursive: true });
  for (const [name, type] of Object.entries(TYPES)) {
    const { $schema, definitions = {}, ...rest } = generator.createSchema(type);
    const named: Definitions = { ...definitions };
    for (const [key, each] of Object.entries(definitions)) {
      if (typeof each === 'object') named[key] = withNamedVariants(each, named);
    }
    const schema = {
      $schema,
      $comment: `muster ${version}: muster schema ${name}`,
      title: type,
      ...withNamedVariants(rest, named),
      definitions: named,
    };
    writeFileSync(join(directory, `${name}.json`), JSON.stringify(schema, withoutUndefined));
  }
}

/** Variants that say their `type` become definitions of that name, which is what code generators call them. */
function withNamedVariants(schema: Schema, definitions: Definitions): Schema {
  if (schema.anyOf === undefined) return schema;
  const anyOf = schema.anyOf.map((variant) => {
    const name = typeof variant === 'object' ? variantName(variant) : null;
    if (name === null) return variant;
    // What has the name already is another type.
    if (Object.hasOwn(definitions, name)) return variant;
    definitions[name] = variant;
    return { $ref: `#/definitions/${name}` };
  });
  return { ...schema, anyOf };
}

/** `task.created`: `TaskCreated`; null: it has no such type. */
function variantName({ properties }: Schema): string | null {
  const type = properties?.['type'];
  if (typeof type !== 'object' || typeof type.const !== 'string') return null;
  const words = type.const.split(/[._-]/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** A field of no value is none in JSON, where `undefined` makes it `{not: {}}`. */
function withoutUndefined(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('anyOf' in value)) return value;
  const { anyOf, ...rest } = value;
  if (!Array.isArray(anyOf)) return value;
  const some = anyOf.filter((each) => JSON.stringify(each) !== '{"not":{}}');
  return some.length === 1 ? { ...rest, ...some[0] } : { ...rest, anyOf: some };
}
