import type { AgentProblem, AgentDefinition } from '../../protocol/agent.ts';
import { normalizeFieldName } from '../fields/field-reader.ts';
import type { SkippedPath } from '../loader/walk.ts';
import {
  type Finding,
  type Lint,
  type Severity,
  findFieldLine,
  type LintContext,
} from './findings.ts';

/**
 * The severity and the advice for each code of a problem from loading. The advice is null if the problem's message
 * already says what to do. All other codes are warnings without advice.
 */
const ADVICE_ROWS: readonly (readonly [code: string, severity: Severity, fix: string | null])[] = [
  [
    'invalid-yaml',
    'warning',
    'Put quotation marks around a value that contains `: ` or ` #`, or write it as a block after `|`.',
  ],
  ['duplicate-key', 'warning', 'Delete one of them.'],
  ['name-from-filename', 'note', 'Write `name:` if the file may be renamed one day.'],
  ['name-differs-from-folder', 'note', 'Give both the same name.'],
  ['frontmatter-missing', 'warning', null],
  ['unknown-tool', 'warning', "Write Muster's name of the tool, or remove it."],
  [
    'unknown-denied-tool',
    'warning',
    "Write Muster's name of the tool. Otherwise the agent may get a tool that it should not have.",
  ],
  ['no-known-tools', 'error', 'List existing tools, or remove `tools`.'],
  ['no-tools', 'note', 'Remove `tools` if it should have the core set.'],
  ['invalid-tools', 'error', null],
  ['invalid-remote', 'error', null],
  [
    'tool-pattern',
    'warning',
    'Name the tool without a pattern, and write what it may not do as `deny-rules` or `ask-rules`.',
  ],
  ['tools-beside-star', 'warning', 'List all tools without `*`.'],
];
const ADVICE = new Map(ADVICE_ROWS.map(([code, severity, fix]) => [code, { severity, fix }]));
/** The codes of problems that other lint rules report more precisely. */
const REPORTED_ELSEWHERE: ReadonlySet<string> = new Set([
  'missing-description',
  'inactive-field',
  'unknown-field',
]);

/** Reports the problems of an agent that could be loaded. */
export function lintProblems(problems: readonly AgentProblem[]): readonly Lint[] {
  return problems
    .filter(({ code }) => !REPORTED_ELSEWHERE.has(code))
    .map(({ code, message, line }) => {
      const { severity, fix } = ADVICE.get(code) ?? { severity: 'warning', fix: null };
      return { code, message, line, severity, fix };
    });
}

/** Creates the finding for a problem of a file from which not all agents could be loaded. */
export function createLoadingFinding({ code, message, path, line }: AgentProblem): Finding {
  const severity = code === 'disabled' ? 'note' : 'error';
  const fix = ADVICE.get(code)?.fix ?? null;
  return { code, severity, path, line: line ?? null, agent: null, message, fix };
}

/**
 * The codes of skipped files that are not reported: files that were not meant as agents, or that the user has not
 * trusted.
 */
const NOT_REPORTED: ReadonlySet<string> = new Set([
  'not-an-agent',
  'disabled',
  'untrusted',
  'changed',
]);

/** Returns findings for skipped paths that may have been meant as agents: links, pipes, and files that are too deep. */
export function listSkippedFindings(
  skipped: readonly SkippedPath[],
  problems: readonly AgentProblem[],
): readonly Finding[] {
  const reported = new Set(problems.map(({ path }) => path));
  return skipped
    .filter(({ code, path }) => !reported.has(path) && !NOT_REPORTED.has(code))
    .map(({ code, path, reason }) => {
      const message = `It is skipped. ${reason}`;
      return { code, severity: 'warning', path, line: null, agent: null, message, fix: null };
    });
}

/** The fields that have an effect in other products but not in Muster, with the consequence and the alternative. */
const CONSEQUENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    hooks: 'The hooks do not run; use the prompt or rules instead.',
    'mcp-servers':
      'The servers are not started for it, so their tools are not available. Define them in mcp.json, and list their names here.',
    memory:
      'Write a scope (user, project or local) for a directory of notes; no other value is supported.',
    response: 'Its answer is not checked; describe the form in the prompt.',
    handoffs: 'There are no handoffs; say in the description what comes next.',
    'sub-recipes': 'The sub-recipes are not loaded; write each one as a separate agent.',
    retry: 'There are no retries; say in the prompt how to check the work.',
    resources: 'The files are not added to its context; tell it in the prompt to read them.',
    'system-prompt-mode': "Muster's own system prompt always comes before its prompt.",
    'inherit-project-context': 'It gets the same as every other agent.',
    'inherit-skills': 'It gets the same as every other agent.',
    permission: 'Put patterns for single calls into the rules of the configuration.',
  }).map(([name, consequence]) => [normalizeFieldName(name), consequence]),
);

/** A field of a file that has no effect in Muster. */
export interface InactiveField {
  /** The name of the field, as it is written in the file. */
  readonly field: string;
  /** The consequence and the alternative, or null if the field does not matter for the behavior of the agent. */
  readonly consequence: string | null;
}

/** Returns the fields of a definition that are unknown or have no effect yet. */
export function findInactiveFields({
  extra,
}: Pick<AgentDefinition, 'extra'>): readonly InactiveField[] {
  return Object.keys(extra).map((field) => ({
    field,
    consequence: CONSEQUENCES.get(normalizeFieldName(field)) ?? null,
  }));
}

/**
 * Reports a warning for each field whose missing effect changes the behavior of the agent, and one note for all other
 * fields.
 */
export function lintInactive(agent: AgentDefinition, { text }: LintContext): readonly Lint[] {
  const fields = findInactiveFields(agent);
  const others = fields.filter(({ consequence }) => consequence === null).map(({ field }) => field);
  const lints: Lint[] = [];
  for (const { field, consequence: fix } of fields) {
    if (fix === null) continue;
    const message = `\`${field}\` has no effect in Muster yet.`;
    const line = findFieldLine(text, [field]);
    lints.push({ code: 'inactive-field', severity: 'warning', message, fix, line });
  }
  const [first] = others;
  if (first === undefined) return lints;
  const message = `Muster does not use ${others.map((field) => `\`${field}\``).join(', ')}.`;
  const line = findFieldLine(text, [first]);
  return [...lints, { code: 'unknown-field', severity: 'note', message, fix: null, line }];
}
