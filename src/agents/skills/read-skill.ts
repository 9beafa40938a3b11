import { basename, dirname } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { createFieldReader, normalizeFieldName, type FieldReader } from '../fields/field-reader.ts';
import { readEffort, readModel, takeNarrowingFlag } from '../fields/common.ts';
import { readHooksField } from '../fields/hooks.ts';
import { parseFrontMatter } from '../parsing/front-matter.ts';
import { failedFile, type FieldProblem, type Fields } from '../parsing/fields.ts';
import { normalizeLineEnds } from '../parsing/split-front-matter.ts';
import {
  readAllowedTools,
  readDisallowedTools,
  compareNames,
  readArgumentNames,
  readContext,
  readSkillDescription,
  readHint,
} from './fields.ts';
import type { DefinitionFile, FileDefinitions } from '../loader/format.ts';
import { holdsCommands } from './text.ts';
import { lazy } from '../../base/lazy.ts';

/** The fields that have an effect. */
const ACTIVE_FIELDS = (
  'name description when_to_use allowed-tools disallowed-tools context agent model ' +
  'effort disable-model-invocation argument-hint arguments hooks'
).split(' ');
/** Documented fields that are only for people, so they need no effect. */
const INFORMATIVE_FIELDS = [
  'license',
  'compatibility',
  'metadata',
  'version',
  'author',
  'user-invocable',
];
/** Fields that another product documents, but that have no effect in Muster. */
const INACTIVE_FIELDS = ['paths', 'shell', 'background'];

/**
 * Matches characters that could end a line of a list, control a terminal, or have a special meaning in a permission
 * rule about the skill.
 */
const UNSAFE_NAME = lazy(() => /[\p{C}\p{Zl}\p{Zp}*()\\]/u);

/**
 * Reads a file as one skill, whose name is the name of its directory. Never throws because of the content of the file.
 *
 * @param plugin the name of the plugin that the skill belongs to; it becomes the prefix of the skill's name
 */
export async function readSkill(
  file: DefinitionFile,
  plugin?: string,
): Promise<FileDefinitions<SkillDefinition>> {
  const { path, text } = file;
  const folder = basename(dirname(path));
  const name = plugin === undefined ? folder : `${plugin}:${folder}`;
  if (UNSAFE_NAME().test(name)) {
    const message = `The name of its ${UNSAFE_NAME().test(folder) ? 'folder' : 'plugin'} contains unprintable characters, parentheses, \`*\` or \`\\\`. Rename it.`;
    return failedFile(file, { code: 'invalid-name', message });
  }
  const front = await parseFrontMatter(text, { fieldTest: () => createFieldTest() });
  switch (front.kind) {
    case 'unreadable':
      return failedFile(file, front);
    case 'none':
      return { items: [createSkill(file, name, readTextOnly(text))], problems: [] };
    case 'fields':
      return { items: [createSkill(file, name, front)], problems: [] };
  }
}

function createFieldTest(): (key: string) => boolean {
  const known = new Set(
    [...ACTIVE_FIELDS, ...INFORMATIVE_FIELDS, ...INACTIVE_FIELDS].map(normalizeFieldName),
  );
  return (key) => known.has(normalizeFieldName(key));
}

interface Content {
  readonly fields: Fields;
  readonly body: string;
  readonly problems: readonly FieldProblem[];
}

function readTextOnly(text: string): Content {
  const message =
    'There is no front matter. Begin the file with `---`, `name:` and `description:` lines, and `---`.';
  const body = normalizeLineEnds(text.replace(/^\uFEFF/, '')).trim();
  return { fields: new Map(), body, problems: [{ code: 'frontmatter-missing', message }] };
}

function createSkill(file: DefinitionFile, name: string, content: Content): SkillDefinition {
  const { path, directory = dirname(path), scope } = file;
  const { fields, body, problems } = content;
  const reader = createFieldReader({ path, vendor: 'claude', fields, problems });
  compareNames(reader, basename(dirname(path)));
  const allowed = readAllowedTools(reader);
  const argumentHint = readHint(reader);
  const activeFields = {
    name,
    description: readSkillDescription(reader, body),
    body,
    directory,
    path,
    scope,
    ...(allowed === undefined ? {} : { allowedTools: allowed.names }),
    ...(allowed?.limited === undefined ? {} : { limitedTools: allowed.limited }),
    disallowedTools: readDisallowedTools(reader),
    ...readContext(reader),
    ...readModel(reader),
    ...readEffort(reader),
    modelInvocable: !takeNarrowingFlag(reader, 'disable-model-invocation', 'invalid-flag'),
    ...readUserInvocable(reader),
    ...(argumentHint === undefined ? {} : { argumentHint }),
    argumentNames: readArgumentNames(reader),
    ...readHooksField(reader),
  };
  warnAboutBody(reader, body);
  return { ...activeFields, extra: readExtra(reader), problems: reader.problems() };
}

function readUserInvocable(reader: FieldReader): Pick<SkillDefinition, 'userInvocable'> {
  const value = reader.peek('user-invocable')?.value;
  return value === false || value === 'false' ? { userInvocable: false } : {};
}

/** Matches a variable that some products replace before the model gets the text, but Muster does not. */
const UNKNOWN_VARIABLE = /\$\{CLAUDE_(?!SKILL_DIR\})[A-Z_]+\}/;

function warnAboutBody(reader: FieldReader, body: string): void {
  if (body === '')
    reader.warn('no-instructions', 'There are no instructions after the front matter.');
  if (holdsCommands(body)) {
    const message =
      'Commands written as !`…` are not run when a skill is loaded; the model gets them as text. Tell it instead what to run.';
    reader.warn('command-in-text', message);
  }
  const [variable] = UNKNOWN_VARIABLE.exec(body) ?? [];
  if (variable !== undefined) {
    reader.warn('unknown-variable', `\`${variable}\` is unknown and is not replaced.`);
  }
}

/**
 * Returns the fields that were not taken. Reports unknown fields, and fields that have an effect only in other
 * products.
 */
function readExtra(reader: FieldReader): JsonObject {
  const untaken = [...reader.untaken()].filter(([key]) => key !== '__proto__');
  const normalizeAll = (names: readonly string[]): ReadonlySet<string> =>
    new Set(names.map(normalizeFieldName));
  const [informative, inactive] = [normalizeAll(INFORMATIVE_FIELDS), normalizeAll(INACTIVE_FIELDS)];
  const names = untaken
    .map(([key]) => key)
    .filter((key) => !informative.has(normalizeFieldName(key)));
  const documented = names.filter((key) => inactive.has(normalizeFieldName(key)));
  const unknown = names.filter((key) => !inactive.has(normalizeFieldName(key)));
  if (documented.length > 0) {
    const message = `These fields have no effect here: ${documented.join(', ')}.`;
    reader.warn('inactive-field', message, reader.untaken().get(documented[0] ?? '')?.line);
  }
  if (unknown.length > 0) {
    const message = `Unknown fields: ${unknown.join(', ')}.`;
    reader.warn('unknown-field', message, reader.untaken().get(unknown[0] ?? '')?.line);
  }
  return Object.fromEntries(untaken.map(([key, field]) => [key, field.value]));
}
