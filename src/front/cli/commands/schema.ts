import { readFileSync } from 'node:fs';
import { errorMessage, MusterError, UsageError } from '../../../base/errors.ts';
import { printJson, printText } from '../../../sys/print.ts';
import { defineCommand } from '../command.ts';
import { factLines } from '../layout.ts';
import { quoteValue } from '../../../config/message-text.ts';

/** The kinds of data that have a schema. */
const SCHEMAS = {
  agent: 'an agent definition, as `muster agents show --json` prints it',
  config: 'a config.toml',
  event: 'a line of `muster tasks log --json`',
  input: 'a line of `--input-format stream-json`',
  result: 'the result of a task, as `muster -p --output-format json` prints it',
  stream: 'a line of `--output-format stream-json` and of `muster tasks watch --json`',
  task: 'one of the tasks that `muster tasks list --json` prints',
} as const;
type SchemaName = keyof typeof SCHEMAS;

/** `muster schema`: lists the schemas; with a name, prints that schema. */
export const schemaCommand = defineCommand({
  words: 'schema',
  summary: 'the JSON Schema of what Muster writes for programs, and of its configuration',
  operands: [{ name: '[NAME]', completes: { words: Object.keys(SCHEMAS) } }],
  flags: [],
  examples: ['muster schema', 'muster schema result', 'muster schema config > muster.schema.json'],
  parse: ({ operands: [name] }) => {
    if (name === undefined) return { name: null };
    if (isSchemaName(name)) return { name };
    const valid = Object.keys(SCHEMAS).join(', ');
    throw new UsageError(`no schema of ${quoteValue(name)}; valid: ${valid}`);
  },
  run: async ({ name }) => {
    if (name === null) printText(factLines(Object.entries(SCHEMAS)));
    else printJson(await loadSchema(name), 2);
    return 0;
  },
});

function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(SCHEMAS, name);
}

async function loadSchema(name: SchemaName): Promise<unknown> {
  if (name !== 'config') return JSON.parse(readSchema(name));
  const { configSchema } = await import('../../../config/schema.ts');
  return configSchema();
}

/** Reads a schema that the build has generated from the types and placed beside the program. */
function readSchema(name: Exclude<SchemaName, 'config'>): string {
  const url = new URL(`./schemas/${name}.json`, import.meta.url);
  try {
    return readFileSync(url, 'utf8');
  } catch (error) {
    throw new MusterError(
      'INTERNAL_ERROR',
      `The schema ${name}.json cannot be read (${errorMessage(error)}). Install Muster again.`,
      { cause: error },
    );
  }
}
