import { basename, dirname } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import type { AgentDefinition, AgentProblem } from '../../protocol/agent.ts';
import { parseFrontMatter } from '../parsing/front-matter.ts';
import type { FieldProblem, Fields } from '../parsing/fields.ts';
import { withLineFeeds } from '../parsing/split.ts';
import { shownMessage } from './clean-text.ts';
import { fieldReader, foldFieldName } from './field-reader.ts';
import type { FieldReader } from './field-reader.ts';
import {
  EFFORT_FIELDS,
  readAliases,
  readBackground,
  readColor,
  readDescription,
  readEffort,
  nameText,
  readInitialPrompt,
  readMemory,
  readModel,
  readName,
  readSkills,
} from './common.ts';
import { joinedRules } from './joined-rules.ts';
import type { DefinitionFile, FileDefinitions } from '../loader/format.ts';
import { limitFieldNames, type OWN_LIMITS, readLimits } from './limits.ts';
import { MODE_FIELDS, readMode } from './mode-fields.ts';
import type { ModeWords } from './modes.ts';
import { readToolFields, TOOL_FIELDS } from './tools.ts';

/** What sets one vendor's files apart from the next one's. */
export interface Dialect {
  readonly vendor: string;
  readonly modes: ModeWords;
  /** Limits beside that of turns. */
  readonly limits: typeof OWN_LIMITS;
  /** Fields that the vendor documents and that do nothing here yet. */
  readonly inactive: readonly string[];
  /** Whether a markdown file without front matter is an agent: its text is the prompt. */
  readonly loadsBareText: boolean;
  /** The name that a file's path gives, where that is not the file's own or its folder's. */
  readonly nameFromPath?: (path: string) => string;
  /** The vendor's own fields in the words that all share, where they differ; it adds and removes entries. */
  readonly translate?: (fields: Fields) => Fields;
  /** What the vendor's own fields, as they stood, add to what all share. */
  readonly complete?: (agent: AgentDefinition, fields: Fields) => AgentDefinition;
  /** Fields that act for this vendor alone. */
  readonly own?: OwnFields;
}

interface OwnFields {
  readonly names: readonly string[];
  /** What they add to the definition, or put in the place of what the shared fields say. */
  read(reader: FieldReader, shared: SharedFields): Partial<AgentDefinition>;
}

/** What the fields that all vendors share say. */
export type SharedFields = Omit<AgentDefinition, 'origin' | 'extra' | 'problems'>;

/** The fields that act, in every dialect: files are converted from one vendor's format to another's. */
const ACTING = [
  'name',
  'aliases',
  'description',
  ...TOOL_FIELDS,
  'model',
  ...MODE_FIELDS,
  ...EFFORT_FIELDS,
  'background',
  'is-background',
  'skills',
  'memory',
  'initial-prompt',
  'color',
];

/** Files that lie beside agents and are none. */
const DOCUMENT = /^(?:readme|changelog|contributing|license|agents|claude|index)\b.*\.md$/i;

/** Reads a markdown file with front matter as one agent. */
export async function readMarkdownAgent(
  file: DefinitionFile,
  dialect: Dialect,
): Promise<FileDefinitions> {
  const front = await parseFrontMatter(file.text, { fieldTest: () => knownFieldTest(dialect) });
  if (front.kind === 'none') return readBareText(file, dialect);
  if (front.kind === 'unreadable') {
    const { code, message, line } = front;
    return failed({ code, message: shownMessage(message), path: file.path, line });
  }
  const name = nameOf(file.path, dialect);
  const content: AgentContent = { ...front, name, prompt: front.body };
  return { items: [readAgent(content, file, dialect)], problems: [] };
}

function nameOf(path: string, dialect: Dialect): string {
  return dialect.nameFromPath?.(path) ?? nameFromPath(path);
}

export function knownFieldTest(dialect: Dialect): (key: string) => boolean {
  const own = dialect.own?.names ?? [];
  const names = [...ACTING, ...limitFieldNames(dialect.limits), ...own, ...dialect.inactive];
  const known = new Set(names.map((name) => foldFieldName(name)));
  return (key) => known.has(foldFieldName(key));
}

export interface AgentContent {
  readonly fields: Fields;
  /** The name where no field gives one. */
  readonly name: string;
  readonly prompt: string;
  readonly problems: readonly FieldProblem[];
}

/** Makes a definition of fields and prompt. Never fails: what does not fit is told and left out. */
export function readAgent(
  content: AgentContent,
  file: Pick<DefinitionFile, 'path' | 'scope'>,
  dialect: Dialect,
): AgentDefinition {
  const reader = fieldReader({
    path: file.path,
    vendor: dialect.vendor,
    fields: dialect.translate?.(content.fields) ?? content.fields,
    problems: content.problems,
  });
  const acting: SharedFields = {
    name: readName(reader, nameText(content.name) ?? nameText(nameFromPath(file.path)) ?? 'agent'),
    aliases: readAliases(reader),
    description: readDescription(reader),
    prompt: content.prompt,
    ...readToolFields(reader),
    ...readModel(reader),
    ...readMode(reader, dialect.modes),
    limits: readLimits(reader, dialect.limits),
    ...readEffort(reader),
    ...readBackground(reader),
    ...readSkills(reader),
    ...readMemory(reader),
    ...readInitialPrompt(reader),
    ...readColor(reader),
  };
  const own = dialect.own?.read(reader, acting) ?? {};
  const agent: AgentDefinition = {
    ...acting,
    ...own,
    ...joinedRules(acting.rules, own.rules),
    origin: { scope: file.scope, vendor: dialect.vendor, path: file.path },
    extra: readExtra(reader, dialect),
    problems: reader.problems(),
  };
  return dialect.complete?.(agent, content.fields) ?? agent;
}

/** What is left: kept as it stood, and told once, those first that change what the agent does. */
function readExtra(reader: FieldReader, dialect: Dialect): JsonObject {
  const left = [...reader.untaken()].filter(([key]) => key !== '__proto__');
  if (left.length === 0) return {};
  const inactive = new Set(dialect.inactive.map((name) => foldFieldName(name)));
  const names = left.map(([key]) => key);
  // Of `settings.theme` it is `settings` that the vendor documents.
  const isDocumented = (key: string): boolean =>
    inactive.has(foldFieldName(key)) || inactive.has(foldFieldName(key.split('.', 1)[0] ?? ''));
  const documented = names.filter(isDocumented);
  const unknown = names.filter((key) => !isDocumented(key));
  const parts = [
    ...(documented.length === 0 ? [] : [`These fields do nothing yet: ${documented.join(', ')}.`]),
    ...(unknown.length === 0 ? [] : [`Unknown fields: ${unknown.join(', ')}.`]),
  ];
  const code = documented.length > 0 ? 'inactive-field' : 'unknown-field';
  reader.warn(code, parts.join(' '), left[0]?.[1].line);
  return Object.fromEntries(left.map(([key, field]) => [key, field.value]));
}

/** `agents/tester.md` → `tester`; `tester/SUBAGENT.md` → `tester`. */
export function nameFromPath(path: string): string {
  const file = basename(path);
  if (file === 'SUBAGENT.md') return basename(dirname(path));
  return file.replace(/^builtin:/, '').replace(/(?:\.agent|\.chatmode)?\.[^.]+$/, '');
}

/** A file without front matter. */
function readBareText(file: DefinitionFile, dialect: Dialect): FileDefinitions {
  const prompt = withLineFeeds(file.text).trim();
  if (!dialect.loadsBareText || prompt === '' || DOCUMENT.test(basename(file.path))) {
    return failed(withoutFrontMatter(file.path));
  }
  const message = 'No front matter: the whole text is the prompt.';
  const problems = [{ code: 'frontmatter-missing', message }];
  const content = { fields: new Map(), name: nameOf(file.path, dialect), prompt, problems };
  return { items: [readAgent(content, file, dialect)], problems: [] };
}

function withoutFrontMatter(path: string): AgentProblem {
  return DOCUMENT.test(basename(path))
    ? { code: 'not-an-agent', message: 'A document without front matter, not an agent.', path }
    : {
        code: 'frontmatter-missing',
        message:
          'No front matter. Begin the file with `---`, `name:` and `description:` lines, and `---`.',
        path,
      };
}

function failed(problem: AgentProblem): FileDefinitions {
  return { items: [], problems: [problem] };
}
