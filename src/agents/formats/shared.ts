import { basename, dirname } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import type { AgentDefinition, AgentProblem } from '../../protocol/agent.ts';
import { parseFrontMatter } from '../front-matter.ts';
import type { FieldProblem, Fields } from '../front-matter/fields.ts';
import { shownMessage } from './clean-text.ts';
import { fieldReader, foldFieldName } from './field-reader.ts';
import type { FieldReader } from './field-reader.ts';
import {
  LIMIT_FIELDS,
  readAliases,
  readColor,
  readDescription,
  readEffort,
  readLimits,
  readMode,
  readModel,
  readName,
} from './fields.ts';
import type { AgentFile, LoadedAgents } from './format.ts';
import type { ModeWords } from './modes.ts';
import { readToolFields } from './tools.ts';

/** What sets one markdown format with front matter apart from the next. */
export interface Dialect {
  readonly vendor: string;
  readonly modes: ModeWords;
  readonly limits: readonly (keyof typeof LIMIT_FIELDS)[];
  /** Fields that the vendor documents and that do nothing here yet. */
  readonly inactive: readonly string[];
}

/** The fields that act, in every dialect; limits are the dialect's own. */
const ACTING = [
  'name',
  'aliases',
  'description',
  'tools',
  'allowed-tools',
  'disallowed-tools',
  'model',
  'permission-mode',
  'effort',
  'color',
];

/** Files that lie beside agents and are none. */
const DOCUMENT = /^(?:readme|changelog|contributing|license|agents|claude|index)\b.*\.md$/i;

/** Reads a markdown file with front matter as one agent. */
export async function readMarkdownAgent(file: AgentFile, dialect: Dialect): Promise<LoadedAgents> {
  const front = await parseFrontMatter(file.text, { fieldTest: () => knownFieldTest(dialect) });
  if (front.kind === 'none') return failed(withoutFrontMatter(file.path));
  if (front.kind === 'unreadable') {
    const { code, message, line } = front;
    return failed({ code, message: shownMessage(message), path: file.path, line });
  }
  const content: AgentContent = { ...front, name: nameFromPath(file.path), prompt: front.body };
  return { items: [readAgent(content, file, dialect)], problems: [] };
}

function knownFieldTest(dialect: Dialect): (key: string) => boolean {
  const names = [...ACTING, ...dialect.limits, ...dialect.inactive];
  const known = new Set(names.map((name) => foldFieldName(name)));
  return (key) => known.has(foldFieldName(key));
}

interface AgentContent {
  readonly fields: Fields;
  /** The name where no field gives one. */
  readonly name: string;
  readonly prompt: string;
  readonly problems: readonly FieldProblem[];
}

/** Makes a definition of fields and prompt. Never fails: what does not fit is told and left out. */
export function readAgent(
  content: AgentContent,
  file: Pick<AgentFile, 'path' | 'scope'>,
  dialect: Dialect,
): AgentDefinition {
  const reader = fieldReader({
    path: file.path,
    vendor: dialect.vendor,
    fields: content.fields,
    problems: content.problems,
  });
  const acting = {
    name: readName(reader, content.name),
    aliases: readAliases(reader),
    description: readDescription(reader),
    prompt: content.prompt,
    ...readToolFields(reader),
    ...readModel(reader),
    ...readMode(reader, dialect.modes),
    limits: readLimits(reader, dialect.limits),
    ...readEffort(reader),
    ...readColor(reader),
  };
  return {
    ...acting,
    origin: { scope: file.scope, vendor: dialect.vendor, path: file.path },
    extra: readExtra(reader, dialect),
    problems: reader.problems(),
  };
}

/** What is left: kept as it stood, and told once, those first that change what the agent does. */
function readExtra(reader: FieldReader, dialect: Dialect): JsonObject {
  const left = [...reader.untaken()].filter(([key]) => key !== '__proto__');
  if (left.length === 0) return {};
  const inactive = new Set(dialect.inactive.map((name) => foldFieldName(name)));
  const names = left.map(([key]) => key);
  const documented = names.filter((key) => inactive.has(foldFieldName(key)));
  const unknown = names.filter((key) => !inactive.has(foldFieldName(key)));
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
  return file.replace(/^builtin:/, '').replace(/(?:\.agent)?\.[^.]+$/, '');
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

function failed(problem: AgentProblem): LoadedAgents {
  return { items: [], problems: [problem] };
}
