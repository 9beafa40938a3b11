import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';

const root = dirname(import.meta.dirname);

/** The types that programs get as JSON, by the names that `muster schema` has for them. */
const TYPES = {
  agent: 'AgentDetails',
  event: 'TaskEvent',
  result: 'ResultEnvelope',
  stream: 'StreamLine',
  task: 'ListedTask',
};

const FILES = [
  'api/agents/show.ts',
  'front/cli/commands/tasks/list.ts',
  'protocol/event.ts',
  'protocol/result.ts',
  'protocol/stream-line.ts',
];

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
  mkdirSync(directory, { recursive: true });
  for (const [name, type] of Object.entries(TYPES)) {
    const schema = { title: type, ...generator.createSchema(type) };
    writeFileSync(join(directory, `${name}.json`), JSON.stringify(schema));
  }
}
