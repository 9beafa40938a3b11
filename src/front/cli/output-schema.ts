import { errorMessage, UsageError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';

/** Of a file that holds a schema, with all the space in it. */
const MOST_FILE_BYTES = 1024 * 1024;

/**
 * The schema that `--output-schema` gives, as JSON text or by the path of a file. Rejects with UsageError
 * for what is none, before anything is asked of a model.
 */
export async function readOutputSchema(given: string): Promise<JsonObject> {
  const isText = given.trimStart().startsWith('{');
  const wrong = (why: string) =>
    new UsageError(`--output-schema${isText ? '' : ` ${given}`}: ${why}`);
  const text = isText ? given : await readSchemaFile(given);
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (thrown) {
    throw wrong(errorMessage(thrown));
  }
  if (!isJsonObject(schema)) throw wrong('must be a JSON Schema, an object');
  const { outputSchemaProblem } = await import('../../api/agents/output-schema.ts');
  const problem = await outputSchemaProblem({ outputSchema: schema });
  if (problem !== null) throw wrong(problem);
  return schema;
}

async function readSchemaFile(path: string): Promise<string> {
  const { readNamedFile } = await import('../../sys/named-file.ts');
  try {
    const bytes = await readNamedFile(path, { maxBytes: MOST_FILE_BYTES });
    return bytes.toString('utf8');
  } catch (thrown) {
    throw new UsageError(`--output-schema ${errorMessage(thrown)}`);
  }
}
