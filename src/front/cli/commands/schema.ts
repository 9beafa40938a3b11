import { readFileSync } from 'node:fs';
import { configSchema } from '../../../config/schema.ts';
import { errorMessage, MusterError } from '../../../base/errors.ts';
import { printJson, printText } from '../../../sys/print.ts';
import { SCHEMAS, type SchemaCommand, type SchemaName } from '../schema-command.ts';
import { factLines } from './facts.ts';

/** `muster schema`: what there is a JSON Schema of; with a name, that schema. */
export function schemaCommand({ name }: SchemaCommand): number {
  if (name === null) printText(factLines(Object.entries(SCHEMAS)));
  else printJson(schemaOf(name), 2);
  return 0;
}

function schemaOf(name: SchemaName): unknown {
  return name === 'config' ? configSchema() : JSON.parse(readSchema(name));
}

/** The build makes them of the types, and lays them beside the program. */
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
