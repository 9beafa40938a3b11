import { basename } from 'node:path';
import { lazy } from '../../base/lazy.ts';
import type { SlashCommandDefinition, CommandSyntax } from '../../protocol/slash-command.ts';
import { readPromptText } from '../fields/common.ts';
import { createFieldReader, normalizeFieldName, type FieldReader } from '../fields/field-reader.ts';
import type { DefinitionFile, FileDefinitions } from '../loader/format.ts';
import { failedFile, normalizeText, type FieldProblem, type Fields } from '../parsing/fields.ts';
import { parseFrontMatter } from '../parsing/front-matter.ts';
import { parseTomlFields } from '../parsing/toml-fields.ts';
import { KNOWN_FIELDS, readCommandFields, type CommandFields } from './fields.ts';

/** The origin of a command file. */
export interface CommandOrigin {
  /** The product, or the name of the plugin. */
  readonly source: string;
  readonly syntax: CommandSyntax;
  /** The directory of the plugin; absent if the file belongs to none. */
  readonly pluginDirectory?: string;
}

/** Matches characters that could control a terminal, and those that cannot be typed in the name of a command. */
const UNSAFE_NAME = lazy(() => /[\p{C}\p{Z}()\\/]/u);

type Read = FileDefinitions<SlashCommandDefinition>;

/** Reads a Markdown file with front matter as a command. Never throws because of the content of the file. */
export async function readMarkdownCommand(
  file: DefinitionFile,
  origin: CommandOrigin,
): Promise<Read> {
  const known = new Set(KNOWN_FIELDS.map(normalizeFieldName));
  const front = await parseFrontMatter(quoteHint(file.text), {
    fieldTest: () => (key) => known.has(normalizeFieldName(key)),
  });
  if (front.kind === 'unreadable') return failedFile(file, front);
  const content =
    front.kind === 'fields'
      ? front
      : { fields: new Map(), body: normalizeText(file.text).trim(), problems: [] };
  return createCommand(file, origin, content);
}

/**
 * Puts quotation marks around an argument hint such as `[file] [focus]`. Vendors document it without them, although it is
 * not valid YAML then.
 */
function quoteHint(text: string): string {
  const end = text.indexOf('\n---', 1);
  const front = text
    .slice(0, Math.max(end, 0))
    .replace(
      /^(argument-hint:[ \t]*)(\[[^\r\n]*)/m,
      (_, key: string, hint: string) => `${key}'${hint.trimEnd().replaceAll("'", "''")}'`,
    );
  return `${front}${text.slice(Math.max(end, 0))}`;
}

/** Reads a TOML file of Gemini CLI as a command: `prompt` and `description`. Never throws because of its content. */
export async function readTomlCommand(file: DefinitionFile, origin: CommandOrigin): Promise<Read> {
  const read = await parseTomlFields(file.text);
  if (!read.ok) return failedFile(file, read.problem);
  const { fields, problems } = read;
  const body = readPromptText(fields.get('prompt')?.value) ?? '';
  const others = new Map([...fields].filter(([key]) => key !== 'prompt'));
  return createCommand(file, origin, { fields: others, body, problems });
}

interface Content {
  readonly fields: Fields;
  readonly body: string;
  readonly problems: readonly FieldProblem[];
}

function createCommand(
  file: DefinitionFile,
  { source, syntax, pluginDirectory }: CommandOrigin,
  { fields, body, problems }: Content,
): Read {
  const { path, scope, locatedName = basename(path).replace(/\.\w+$/, '') } = file;
  const name = pluginDirectory === undefined ? locatedName : `${source}:${locatedName}`;
  if (UNSAFE_NAME().test(name)) {
    const message =
      'The name of the file or of its folder contains a space or another character that no name of a command may have. Rename it.';
    return failedFile(file, { code: 'invalid-name', message });
  }
  if (body === '') {
    const message =
      syntax === 'gemini'
        ? 'There is no `prompt`. Write `prompt = "…"`.'
        : 'There is no text for the message. Write it after the front matter.';
    return failedFile(file, { code: 'no-instructions', message });
  }
  const reader = createFieldReader({ path, vendor: syntax, fields, problems });
  const isOfPlugin = pluginDirectory !== undefined;
  const owner = isOfPlugin ? 'plugin' : scope === 'user' ? 'user' : 'project';
  const known = limitRules(readCommandFields(reader, body), owner);
  const command = {
    name,
    body,
    syntax,
    path,
    scope,
    source,
    ...(pluginDirectory === undefined ? {} : { pluginDirectory }),
    ...known,
    extra: readExtraFields(reader),
  };
  return { items: [{ ...command, problems: reader.problems() }], problems: [] };
}

/**
 * Removes the rules that a command may not have, and notes that they have no effect: only a command of the user allows calls,
 * and a plugin has no rights of its own.
 */
function limitRules(
  { shellRules, turnRules, ...fields }: CommandFields,
  owner: 'user' | 'project' | 'plugin',
): CommandFields {
  if (owner === 'user') return { ...fields, shellRules, turnRules };
  const isPlugin = owner === 'plugin';
  const notes = [
    ...(isPlugin && shellRules.length > 0
      ? [
          `allowed-tools: ${shellRules.join(', ')} — a command of a plugin allows nothing; your rules and the mode decide about its shell parts.`,
        ]
      : []),
    ...(turnRules.length === 0
      ? []
      : [
          `allowed-tools: ${turnRules.join(', ')} — only a command of your own allows calls; your rules and the mode decide about them.`,
        ]),
  ];
  return {
    ...fields,
    shellRules: isPlugin ? [] : shellRules,
    turnRules: [],
    withoutEffect: [...notes, ...fields.withoutEffect],
  };
}

/** Returns the fields that nothing has read, and reports them as unknown. */
function readExtraFields(reader: FieldReader): SlashCommandDefinition['extra'] {
  const untaken = [...reader.untaken()].filter(([key]) => key !== '__proto__');
  const [first] = untaken;
  if (first !== undefined) {
    const names = untaken.map(([key]) => key).join(', ');
    reader.warn('unknown-field', `Unknown fields: ${names}.`, first[1].line);
  }
  return Object.fromEntries(untaken.map(([key, { value }]) => [key, value]));
}
