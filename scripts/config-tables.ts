/**
 * Writes src/config/config-tables.ts: the type of the configuration as an object, with the meaning, the values and the default
 * of each key. It is derived from the table of keys, and written out so that editors and the API reference show it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { KEYS_BY_SECTION, type KeyEntry } from '../src/config/key-entry.ts';

const FILE = join(import.meta.dirname, '../src/config/config-tables.ts');

const OPTIONS = JSON.parse(readFileSync(join(import.meta.dirname, '../.oxfmtrc.json'), 'utf8'));

/** The length of a line of a comment, in UTF-16 units. */
const WIDTH = 110;

/** Returns the text of the file that declares the type. */
export async function formatConfigTables(): Promise<string> {
  const sections = Array.from(KEYS_BY_SECTION, ([section, keys]) => {
    const fields = Array.from(
      keys.values(),
      (entry) => `${formatComment(describeKey(entry))}readonly ${entry.name}?: ${typeOf(entry)};`,
    );
    return `/** The section \`[${section}]\`. */\nreadonly ${section}?: {\n${fields.join('\n')}\n};`;
  });
  const text = `// Written by \`npm run docs:api\` from the table of keys. Change that.

/** The sections and keys of \`config.toml\` (docs/configuration.md). */
export interface ConfigTables {
${sections.join('\n')}
}`;
  const { code, errors } = await format(FILE, text, OPTIONS);
  if (errors.length > 0) throw new Error(`${FILE} cannot be formatted: ${JSON.stringify(errors)}`);
  return code;
}

function describeKey({ key, spec }: KeyEntry): string {
  const values = spec.schema['type'] === 'boolean' ? '' : ` Values: ${spec.expects}.`;
  const preset = spec.defaultText ?? JSON.stringify(spec.default);
  return `The setting \`${key}\`: ${spec.meaning}.${values} Default: ${preset === '[]' ? 'none' : preset}.`;
}

function formatComment(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.length === 1
    ? `/** ${text} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

function typeOf({ key, spec }: KeyEntry): string {
  const { type, enum: choices } = spec.schema;
  if (Array.isArray(choices)) return choices.map((choice) => `'${String(choice)}'`).join(' | ');
  if (type === 'array') return 'readonly string[]';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean' || type === 'string') return type;
  throw new Error(
    `${key}: no TypeScript type is known for the schema ${JSON.stringify(spec.schema)}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(FILE, await formatConfigTables());
