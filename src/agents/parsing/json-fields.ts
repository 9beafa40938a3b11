import { jsonStringEnd } from './jsonc.ts';
import { errorMessage } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import {
  collectFields,
  normalizeText,
  unreadableFile,
  type FileFields,
  type LocatedKey,
} from './fields.ts';
import { parseStrict } from './strict-yaml.ts';

/**
 * Reads the top-level fields of a JSON file with their lines. A text that is invalid JSON and valid YAML, which
 * allows an extra comma or a missing quotation mark, is read as YAML with a warning. Never throws.
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
  const keys = keyLines(json).filter(({ key }) => key !== '__proto__');
  try {
    return { ok: true, ...collectFields(keys, (key) => object[key]) };
  } catch (error) {
    // The file has too many values, or they are nested too deep.
    return unreadableFile('invalid-json', `It cannot be read: ${errorMessage(error)}.`);
  }
}

async function readAsYaml(json: string): Promise<FileFields> {
  const read = await parseStrict(json, 1);
  if (!read.ok) return broken(read);
  if (read.fields.size === 0) return unreadableFile('invalid-json', 'It holds no JSON object.');
  const message =
    'It is not valid JSON; it was read as YAML. Correct it: other programs refuse it.';
  return {
    ok: true,
    fields: read.fields,
    problems: [{ code: 'invalid-json', message }, ...read.problems],
  };
}

function broken({
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

/** Returns the keys of the top-level object of a valid JSON text. */
function keyLines(json: string): readonly LocatedKey[] {
  const keys: LocatedKey[] = [];
  let depth = 0;
  let line = 1;
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (char === '\n') line += 1;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === '"') {
      const end = jsonStringEnd(json, at);
      if (depth === 1 && isBeforeColon(json, end)) {
        keys.push({ key: String(JSON.parse(json.slice(at, end))), line });
      }
      at = end - 1;
    }
  }
  return keys;
}

const BLANK = new Set([' ', '\t', '\n']);

function isBeforeColon(json: string, from: number): boolean {
  let at = from;
  while (BLANK.has(json[at] ?? '')) at += 1;
  return json[at] === ':';
}
