import { readAcceptanceField } from '../fields/acceptance.ts';
import { basename } from 'node:path';
import type { JsonValue } from '../../base/json.ts';
import type { DefinitionFile, FileDefinitions } from '../loader/format.ts';
import { ISOLATIONS } from '../../protocol/workspace.ts';
import type { TemplateDefinition } from '../../protocol/template.ts';
import {
  readVisibleName,
  takeFirstField,
  fieldText,
  readSingleLine,
  readField,
} from '../fields/common.ts';
import { createFieldReader, normalizeFieldName, type FieldReader } from '../fields/field-reader.ts';
import { parseFrontMatter } from '../parsing/front-matter.ts';
import { failedFile } from '../parsing/fields.ts';
import { parseBody } from './render.ts';

/** The names of all fields of a template. */
const FIELDS = [
  'name',
  'description',
  'agent',
  'subagent_type',
  'model',
  'max_turns',
  'accept',
  'isolation',
];

/** Reads a file as one template. Never throws because of the content of the file. */
export async function readTemplate(
  file: DefinitionFile,
): Promise<FileDefinitions<TemplateDefinition>> {
  const { path, scope, text } = file;
  const front = await parseFrontMatter(text, {
    fieldTest: () => {
      const known = new Set(FIELDS.map(normalizeFieldName));
      return (key) => known.has(normalizeFieldName(key));
    },
  });
  if (front.kind === 'unreadable') return failedFile(file, front);
  if (front.kind === 'none') {
    const message =
      'There is no front matter. Begin the file with `---`, `name:` and `description:` lines, and `---`.';
    return failedFile(file, { code: 'frontmatter-missing', message });
  }
  const { fields, body, problems } = front;
  const { parts, unknown } = parseBody(body);
  if (unknown.length > 0) {
    const message = `Unknown placeholders: ${[...new Set(unknown)].join(', ')}. The placeholders are {{item}}, {{item.FIELD}}, {{index}} and {{count}}; \\{{ means two braces.`;
    return failedFile(file, { code: 'unknown-placeholder', message });
  }
  if (!parts.some(({ kind }) => kind === 'item')) {
    const message = 'Its text has no {{item}}: every task would be the same.';
    return failedFile(file, { code: 'no-item', message });
  }
  const reader = createFieldReader({ path, vendor: 'muster', fields, problems });
  const read = readFields(reader, path);
  warnAboutUnknownFields(reader);
  const template = { ...read, body, path, scope, problems: reader.problems() };
  return { items: [template], problems: [] };
}

function readFields(
  reader: FieldReader,
  path: string,
): Omit<TemplateDefinition, 'body' | 'path' | 'scope' | 'problems'> {
  const fallback = basename(path)
    .replace(/\.md$/i, '')
    .replace(/^builtin:/, '');
  const name = readVisibleName(reader.take('name')?.value) ?? fallback;
  const agent = readVisibleName(takeFirstField(reader, ['agent', 'subagent_type'])?.value);
  const model = readSingleLine(reader.take('model')?.value);
  return {
    name,
    description: fieldText(reader.take('description')?.value) ?? '',
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...readMaxTurns(reader),
    ...readAcceptanceField(reader),
    ...readTemplateIsolation(reader),
  };
}

function readTemplateIsolation(reader: FieldReader): Pick<TemplateDefinition, 'isolation'> {
  const parse = (value: JsonValue) => ISOLATIONS.find((each) => each === readSingleLine(value));
  const message = `\`isolation\` must be one of ${ISOLATIONS.join(', ')}; it is ignored.`;
  const isolation = readField(reader, ['isolation'], parse, ['invalid-isolation', message]);
  return isolation === undefined ? {} : { isolation };
}

function readMaxTurns(reader: FieldReader): Pick<TemplateDefinition, 'maxTurns'> {
  const parseTurns = (value: JsonValue) => {
    const turns = Number(readSingleLine(value));
    return Number.isSafeInteger(turns) && turns > 0 ? turns : undefined;
  };
  const message = '`max_turns` must be a whole number above 0; it is ignored.';
  const maxTurns = readField(reader, ['max_turns'], parseTurns, ['invalid-max-turns', message]);
  return maxTurns === undefined ? {} : { maxTurns };
}

function warnAboutUnknownFields(reader: FieldReader): void {
  const names = [...reader.untaken().keys()];
  if (names.length === 0) return;
  const line = reader.untaken().get(names[0] ?? '')?.line;
  const message = `Unknown fields: ${names.join(', ')}. The fields of a template are ${FIELDS.join(', ')}.`;
  reader.warn('unknown-field', message, line);
}
