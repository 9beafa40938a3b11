import { errorMessage } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { memberSpans, rootStart } from '../../base/json-spans.ts';
import {
  collectFields,
  normalizeText,
  unreadableFile,
  type FileFields,
  type LocatedKey,
} from './fields.ts';
import { parseStrict } from './strict-yaml.ts';

/**
 * Reads the top-level fields of a JSON file with their lines. A text that is not valid JSON but valid YAML (which
 * allows an extra comma or missing quotation marks) is read as YAML, with a warning. Never throws.
 */
export async function parseJsonFields(text: string): Promise<FileFields> {
  const json = normalizeText(text);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The YAML reader gives a better description of the mistake.
    return readAsYaml(json);
  }
  if (!isJsonObject(value)) return unreadableFile('invalid-json', 'It holds no JSON object.');
  const object = value;
  const keys = locateKeys(json).filter(({ key }) => key !== '__proto__');
  try {
    return { ok: true, ...collectFields(keys, (key) => object[key]) };
  } catch (error) {
    // The file has too many values, or its values are nested too deep.
    return unreadableFile('invalid-json', `It cannot be read: ${errorMessage(error)}.`);
  }
}

async function readAsYaml(json: string): Promise<FileFields> {
  const read = await parseStrict(json, 1);
  if (!read.ok) return createInvalidFile(read);
  if (read.fields.size === 0) return unreadableFile('invalid-json', 'It holds no JSON object.');
  const message =
    'It is not valid JSON; it was read as YAML. Correct it: other programs refuse it.';
  return {
    ok: true,
    fields: read.fields,
    problems: [{ code: 'invalid-json', message }, ...read.problems],
  };
}

function createInvalidFile({
  message,
  line,
}: {
  readonly message: string;
  readonly line: number;
}): FileFields {
  return unreadableFile(
    'invalid-json',
    `It is not valid JSON at line ${line}: ${message}. Correct it.`,
    line,
  );
}

/** Returns the keys of the top-level object of a valid JSON text, with their lines. */
function locateKeys(json: string): readonly LocatedKey[] {
  let line = 1;
  let at = 0;
  return memberSpans(json, rootStart(json)).map(({ name, nameStart }) => {
    line += json.slice(at, nameStart).split('\n').length - 1;
    at = nameStart;
    return { key: name, line };
  });
}
