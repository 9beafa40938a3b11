import type { AgentProblem } from '../../protocol/agent.ts';
import type { SkippedPath } from '../loader/walk.ts';
import type { Finding, Lint, Severity } from './findings.ts';

/** The severity and the advice for problems from loading. Null: the message says what to do, as for any other code, which is a warning. */
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
  [
    'tool-pattern',
    'warning',
    'Name the tool without a pattern, and write what it may not do as `deny-rules` or `ask-rules`.',
  ],
  ['tools-beside-star', 'warning', 'List all tools without `*`.'],
];
const ADVICE = new Map(ADVICE_ROWS.map(([code, severity, fix]) => [code, { severity, fix }]));
/** Problems that other lint rules report more exactly. */
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

/** Returns the finding for a problem of a file from which no agent, or not every agent, could be loaded. */
export function loadingFinding({ code, message, path, line }: AgentProblem): Finding {
  const severity = code === 'disabled' ? 'note' : 'error';
  const fix = ADVICE.get(code)?.fix ?? null;
  return { code, severity, path, line: line ?? null, agent: null, message, fix };
}

/** The codes of files that were not meant as agents, or that the user has not trusted. */
const NOT_REPORTED: ReadonlySet<string> = new Set([
  'not-an-agent',
  'disabled',
  'untrusted',
  'changed',
]);

/** Returns findings for skipped paths that may have been meant as agents: links, pipes, and files that are too deep. */
export function skippedFindings(
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
