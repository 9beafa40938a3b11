import { basename, dirname } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { parseFrontMatter } from '../parsing/front-matter.ts';
import { failedFile, type FieldProblem, type Fields } from '../parsing/fields.ts';
import { normalizeLineEnds } from '../parsing/split-front-matter.ts';
import { createFieldReader, normalizeFieldName, type FieldReader } from './field-reader.ts';
import {
  EFFORT_FIELDS,
  readAliases,
  readBackground,
  readColor,
  readDescription,
  readEffort,
  readVisibleName,
  readInitialPrompt,
  readIsolation,
  readMemoryScope,
  readModel,
  readName,
  readSkills,
  mergeRules,
} from './common.ts';
import type { DefinitionFile, FileDefinitions } from '../loader/format.ts';
import { listLimitFields, readLimits } from './limits.ts';
import { CLAUDE_MODES, MODE_FIELDS, readMode, type ModeNames } from './modes.ts';
import { readToolFields, TOOL_FIELDS } from './tools.ts';

/** The differences between the agent files of one vendor and those of other vendors. */
export interface AgentDialect {
  readonly vendor: string;
  /** The names of permission modes. Default: Claude Code's names. */
  readonly modes?: ModeNames;
  /** The names of the fields for limits other than the limit of turns. Default: none. */
  readonly limits?: readonly string[];
  /** The names of fields that the vendor documents, but that have no effect in Muster yet. Default: none. */
  readonly inactive?: readonly string[];
  /** Whether a markdown file without front matter is an agent, with its full text as the prompt. Default: false. */
  readonly loadsBareText?: boolean;
  /**
   * Returns the name from the path of a file. Default: the name of the file, or of the directory of a `SUBAGENT.md`.
   */
  readonly nameFromPath?: (path: string) => string;
  /** Translates the vendor's own fields into the fields that all vendors share. */
  readonly translate?: (fields: Fields) => Fields;
  /** Completes the definition from the fields of the file before their translation. */
  readonly complete?: (agent: AgentDefinition, fields: Fields) => AgentDefinition;
  /** Fields that have an effect only for this vendor. */
  readonly own?: OwnFields;
}

/** The fields that only one vendor has. */
interface OwnFields {
  readonly names: readonly string[];
  /** Returns the part of the definition that these fields add or replace. */
  read(reader: FieldReader, shared: SharedFields): Partial<AgentDefinition>;
}

/** The part of a definition that comes from the fields that all vendors share. */
export type SharedFields = Omit<AgentDefinition, 'origin' | 'extra' | 'problems'>;

/**
 * The fields that have an effect for every vendor, because people convert files from one vendor's format to another's.
 */
const SHARED_FIELDS = [
  ...(
    'name aliases description model background is-background skills memory isolation ' +
    'initial-prompt color'
  ).split(' '),
  ...TOOL_FIELDS,
  ...MODE_FIELDS,
  ...EFFORT_FIELDS,
];

/** Matches the names of documents that lie next to agents. */
const DOCUMENT_NAME = /^(?:readme|changelog|contributing|license|agents|claude|index)\b.*\.md$/i;

/** Reads a markdown file with front matter as one agent. */
export async function readMarkdownAgent(
  file: DefinitionFile,
  dialect: AgentDialect,
): Promise<FileDefinitions> {
  const front = await parseFrontMatter(file.text, { fieldTest: () => createFieldTest(dialect) });
  if (front.kind === 'none') return readTextOnlyFile(file, dialect);
  if (front.kind === 'unreadable') return failedFile(file, front);
  const name = resolveName(file.path, dialect);
  const content: AgentContent = { ...front, name, prompt: front.body };
  return { items: [readAgent(content, file, dialect)], problems: [] };
}

function resolveName(path: string, dialect: AgentDialect): string {
  return dialect.nameFromPath?.(path) ?? nameFromPath(path);
}

/** Returns a function that says whether a key is the name of a known field. */
export function createFieldTest(dialect: AgentDialect): (key: string) => boolean {
  const own = dialect.own?.names ?? [];
  const names = [
    ...SHARED_FIELDS,
    ...listLimitFields(dialect.limits ?? []),
    ...own,
    ...(dialect.inactive ?? []),
  ];
  const known = new Set(names.map((name) => normalizeFieldName(name)));
  return (key) => known.has(normalizeFieldName(key));
}

/** The content of an agent's file after parsing. */
export interface AgentContent {
  readonly fields: Fields;
  /** The name for a file without a `name` field. */
  readonly name: string;
  readonly prompt: string;
  readonly problems: readonly FieldProblem[];
}

/** Creates a definition from fields and a prompt. Never fails: an invalid value is reported and left out. */
export function readAgent(
  content: AgentContent,
  file: Pick<DefinitionFile, 'path' | 'scope'>,
  dialect: AgentDialect,
): AgentDefinition {
  const reader = createFieldReader({
    path: file.path,
    vendor: dialect.vendor,
    fields: dialect.translate?.(content.fields) ?? content.fields,
    problems: content.problems,
  });
  const shared: SharedFields = {
    name: readName(
      reader,
      readVisibleName(content.name) ?? readVisibleName(nameFromPath(file.path)) ?? 'agent',
    ),
    aliases: readAliases(reader),
    description: readDescription(reader),
    prompt: content.prompt,
    ...readToolFields(reader),
    ...readModel(reader),
    ...readMode(reader, dialect.modes ?? CLAUDE_MODES),
    limits: readLimits(reader, dialect.limits ?? []),
    ...readEffort(reader),
    ...readBackground(reader),
    ...readIsolation(reader),
    ...readSkills(reader),
    ...readMemoryScope(reader),
    ...readInitialPrompt(reader),
    ...readColor(reader),
  };
  const own = dialect.own?.read(reader, shared) ?? {};
  const agent: AgentDefinition = {
    ...shared,
    ...own,
    ...mergeRules(shared.rules, own.rules),
    origin: { scope: file.scope, vendor: dialect.vendor, path: file.path },
    extra: readExtra(reader, dialect),
    problems: reader.problems(),
  };
  return dialect.complete?.(agent, content.fields) ?? agent;
}

/**
 * Returns the fields that were not taken, and reports all of them in one warning that begins with the fields that the
 * vendor documents.
 */
function readExtra(reader: FieldReader, dialect: AgentDialect): JsonObject {
  const untaken = [...reader.untaken()].filter(([key]) => key !== '__proto__');
  if (untaken.length === 0) return {};
  const inactive = new Set((dialect.inactive ?? []).map((name) => normalizeFieldName(name)));
  const names = untaken.map(([key]) => key);
  // A vendor that documents `settings` also documents `settings.theme`.
  const isDocumented = (key: string): boolean =>
    inactive.has(normalizeFieldName(key)) ||
    inactive.has(normalizeFieldName(key.split('.', 1)[0] ?? ''));
  const documented = names.filter(isDocumented);
  const unknown = names.filter((key) => !isDocumented(key));
  const parts = [
    ...(documented.length === 0
      ? []
      : [`These fields have no effect yet: ${documented.join(', ')}.`]),
    ...(unknown.length === 0 ? [] : [`Unknown fields: ${unknown.join(', ')}.`]),
  ];
  const code = documented.length > 0 ? 'inactive-field' : 'unknown-field';
  reader.warn(code, parts.join(' '), untaken[0]?.[1].line);
  return Object.fromEntries(untaken.map(([key, field]) => [key, field.value]));
}

/** Returns the name from the path of a file: `agents/tester.md` → `tester`, `tester/SUBAGENT.md` → `tester`. */
export function nameFromPath(path: string): string {
  const file = basename(path);
  if (file === 'SUBAGENT.md') return basename(dirname(path));
  return file.replace(/^builtin:/, '').replace(/(?:\.agent|\.chatmode)?\.[^.]+$/, '');
}

const MISSING_FRONT_MATTER = {
  code: 'frontmatter-missing',
  message:
    'There is no front matter. Begin the file with `---`, `name:` and `description:` lines, and `---`.',
};

/** Reads a file without front matter. If the vendor allows such agents, the full text is the prompt. */
function readTextOnlyFile(file: DefinitionFile, dialect: AgentDialect): FileDefinitions {
  const prompt = normalizeLineEnds(file.text).trim();
  if (DOCUMENT_NAME.test(basename(file.path))) {
    const message = 'A document without front matter, not an agent.';
    return failedFile(file, { code: 'not-an-agent', message });
  }
  if (dialect.loadsBareText !== true || prompt === '') {
    return failedFile(file, MISSING_FRONT_MATTER);
  }
  const message = 'There is no front matter: the whole text is the prompt.';
  const problems = [{ code: 'frontmatter-missing', message }];
  const content = { fields: new Map(), name: resolveName(file.path, dialect), prompt, problems };
  return { items: [readAgent(content, file, dialect)], problems: [] };
}
