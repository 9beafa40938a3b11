import type { JsonValue } from '../../base/json.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { ToolGrant } from '../../protocol/tool-aliases.ts';
import { removeControls, type SourceLine } from '../parsing/fields.ts';
import { fieldText, readSingleLine } from '../fields/common.ts';
import type { FieldReader } from '../fields/field-reader.ts';
import {
  cleanToolWord,
  mergeToolGrants,
  findUnlimitedGrants,
  type GrantedTools,
} from '../fields/tool-grants.ts';

/** The maximum number of characters of a description. Hostile files may have far longer ones. */
const MAX_DESCRIPTION_LENGTH = 20_000;
/** The number of characters at the beginning of the text in which a description is searched for. */
const SEARCHED_LENGTH = 4_000;
/** The maximum number of characters of a description from the text. */
const MAX_FALLBACK_LENGTH = 500;
const MAX_HINT_LENGTH = 200;
/** The maximum number of arguments. Nobody writes more. */
const MAX_ARGUMENTS = 50;
const ARGUMENT_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** Reports a declared name that differs from the name of the directory. */
export function compareNames(reader: FieldReader, folder: string): void {
  const field = reader.take('name');
  const declared = readSingleLine(field?.value);
  if (declared === undefined || declared === folder) return;
  const message = `Its name is \`${declared}\`, and the name of its folder is \`${folder}\`; the folder counts. Make them the same.`;
  reader.warn('name-differs-from-folder', message, field?.line);
}

/**
 * Reads the description, and the `when_to_use` of some products. If there are none, returns the beginning of the text.
 */
export function readSkillDescription(reader: FieldReader, body: string): string {
  const field = reader.take('description');
  const parts = [field?.value, reader.take('when_to_use')?.value].map(fieldText);
  const written = parts.filter((part) => part !== undefined).join(' ');
  if (written !== '') return truncate(written, MAX_DESCRIPTION_LENGTH);
  const message =
    'There is no `description`: the beginning of the text is used instead. Say what it does and when to use it.';
  reader.warn('missing-description', message, field?.line);
  const beginning = removeControls(truncate(body, SEARCHED_LENGTH)).replace(/^(?:#.*\n|\s)+/, '');
  return truncate(collapseWhitespace(beginning.split('\n\n', 1)[0] ?? ''), MAX_FALLBACK_LENGTH);
}

export function readContext(reader: FieldReader): Pick<SkillDefinition, 'context' | 'agent'> {
  const field = reader.take('context');
  const agent = readSingleLine(reader.take('agent')?.value);
  const context = readSingleLine(field?.value);
  if (context === 'fork') return { context, ...(agent === undefined ? {} : { agent }) };
  if (context !== undefined && context !== 'inline' && context !== 'inherit') {
    const message = `\`context\` can only be \`fork\`; \`${context}\` is ignored.`;
    reader.warn('invalid-context', message, field?.line);
  }
  if (agent === undefined) return {};
  const message = '`agent` has an effect only with `context: fork`.';
  reader.warn('agent-without-fork', message, field?.line);
  return { agent };
}

/**
 * Reads the hint about arguments. Many files write it without quotation marks, as `[issue-number]`, which is a list in
 * YAML.
 */
export function readHint(reader: FieldReader): string | undefined {
  const value = reader.take('argument-hint')?.value;
  const hint = Array.isArray(value)
    ? value.map((each: JsonValue) => `[${fieldText(each) ?? ''}]`).join(' ')
    : fieldText(value);
  return hint === undefined ? undefined : truncate(collapseWhitespace(hint), MAX_HINT_LENGTH);
}

export function readArgumentNames(reader: FieldReader): readonly string[] {
  const field = reader.take('arguments');
  const value = field?.value ?? [];
  const words: readonly JsonValue[] = Array.isArray(value)
    ? value
    : (fieldText(value) ?? '').split(/[\s,]+/);
  const names = words
    .slice(0, MAX_ARGUMENTS)
    .map((each) => fieldText(each))
    .filter((each) => each !== undefined);
  const wrong = names.filter((each) => !ARGUMENT_NAME.test(each));
  if (wrong.length > 0) {
    const message = `\`arguments\` are names of letters, digits, \`-\` and \`_\`; ignored: ${wrong.join(', ')}.`;
    reader.warn('invalid-arguments', message, field?.line);
    // Leaving out only these names would give the other arguments wrong positions.
    return [];
  }
  return names;
}

/** Matches the name of a tool, with or without a specifier in parentheses. */
const TOOL = /[^\s,()]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?/g;
/** Matches the name in front of a specifier. */
const NAME_BEFORE_SPECIFIER = /^([^()]+)\(/;
/** The maximum number of characters of a list of tools. The names of all tools are far shorter. */
const MAX_LIST_LENGTH = 20_000;

/**
 * Reads `allowed-tools`: names separated by spaces or commas, or a list. Returns undefined if the field is absent.
 * `Bash(git log:*)` grants the tool without a limit. In Claude Code, a specifier only lets calls run without a
 * question, and in Muster the rules of the agent that runs the skill decide about questions. A value that cannot be
 * read grants no tools, with a warning.
 */
export function readAllowedTools(reader: FieldReader): GrantedTools | undefined {
  const list = takeGrants(reader, 'allowed-tools');
  return list === undefined ? undefined : mergeToolGrants(reader, list.grants, list.line);
}

/**
 * Reads `disallowed-tools`, which has the form of `allowed-tools`, as canonical names. A name for a part of a tool
 * denies all calls of the tool.
 */
export function readDisallowedTools(reader: FieldReader): readonly string[] {
  const { grants = [] } = takeGrants(reader, 'disallowed-tools') ?? {};
  return [...new Set(grants.map(({ tool }) => tool))];
}

interface GrantList {
  readonly grants: readonly ToolGrant[];
  readonly line: SourceLine;
}

function takeGrants(reader: FieldReader, name: string): GrantList | undefined {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return undefined;
  const { value, line } = field;
  const words = splitToolNames(value);
  if (words === undefined) {
    const message = `\`${name}\` cannot be read and names no tool. Write \`Read Grep\` or a list of names.`;
    reader.warn('invalid-tools', message, line);
    return { grants: [], line };
  }
  const found = [...new Set(words)].map((word) => ({
    word,
    grants: findUnlimitedGrants(reader, NAME_BEFORE_SPECIFIER.exec(word)?.[1] ?? word),
  }));
  const unknown = found.filter(({ grants }) => grants.length === 0).map(({ word }) => word);
  if (unknown.length > 0) reader.warn('unknown-tool', describeUnknownTools(unknown), line);
  return { grants: found.flatMap(({ grants }) => grants), line };
}

function describeUnknownTools(words: readonly string[]): string {
  const list = words.map((word) => `\`${word}\``).join(', ');
  return words.length === 1
    ? `Unknown tool ${list}; it is left out.`
    : `Unknown tools ${list}; they are left out.`;
}

function splitToolNames(value: JsonValue): readonly string[] | undefined {
  const texts: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  return texts
    .flatMap(
      (text) =>
        truncate(text, MAX_LIST_LENGTH)
          .replaceAll(/^\s*\[|\]\s*$/g, '')
          .match(TOOL) ?? [],
    )
    .map(cleanToolWord)
    .filter((word) => word !== '' && word !== '-');
}
