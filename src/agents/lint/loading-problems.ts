import type { AgentProblem } from '../../protocol/agent.ts';
import type { SkippedPath } from '../loader/walk.ts';
import type { Finding, Lint, Severity } from './finding.ts';

interface Advice {
  readonly severity: Severity;
  /** Null: the message says it. */
  readonly fix: string | null;
}

/** What loading told, by its code. What is not here is a warning that says itself what to do. */
const ADVICE: ReadonlyMap<string, Advice> = new Map<string, Advice>([
  [
    'invalid-yaml',
    {
      severity: 'warning',
      fix: 'Put quotes around a value that holds `: ` or ` #`, or write it as a block after `|`.',
    },
  ],
  ['duplicate-key', { severity: 'warning', fix: 'Delete one of the two.' }],
  [
    'name-from-filename',
    { severity: 'note', fix: 'Write `name:` if the file may be called otherwise one day.' },
  ],
  ['name-differs-from-folder', { severity: 'note', fix: 'Give both the same name.' }],
  ['frontmatter-missing', { severity: 'warning', fix: null }],
  [
    'unknown-tool',
    { severity: 'warning', fix: "Write Muster's name of the tool, or take the word out." },
  ],
  [
    'unknown-denied-tool',
    {
      severity: 'warning',
      fix: "Write Muster's name of the tool, or the agent may have what it should not.",
    },
  ],
  [
    'no-known-tools',
    { severity: 'error', fix: 'List tools that there are, or leave `tools` out.' },
  ],
  ['no-tools', { severity: 'note', fix: 'Leave `tools` out if it is to have the core set.' }],
  ['invalid-tools', { severity: 'error', fix: null }],
  [
    'tool-pattern',
    {
      severity: 'warning',
      fix: 'Name the whole tool, and write what it may not do as `deny-rules` or `ask-rules`.',
    },
  ],
  ['tools-beside-star', { severity: 'warning', fix: 'List all of the tools without `*`.' }],
]);

/** Told by rules of their own, more exactly. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set([
  'missing-description',
  'inactive-field',
  'unknown-field',
]);

/** What loading told of an agent that did load. */
export function lintProblems(problems: readonly AgentProblem[]): readonly Lint[] {
  return problems
    .filter(({ code }) => !TOLD_ELSEWHERE.has(code))
    .map(({ code, message, line }) => {
      const { severity, fix } = ADVICE.get(code) ?? { severity: 'warning', fix: null };
      return { code, message, line, severity, fix };
    });
}

/** What loading told of a file that gave no agent, or fewer than it holds. */
export function loadingFinding({ code, message, path, line }: AgentProblem): Finding {
  const severity = code === 'disabled' ? 'note' : 'error';
  const fix = ADVICE.get(code)?.fix ?? null;
  return { code, severity, path, line: line ?? null, agent: null, message, fix };
}

/** Codes of files that were never meant as agents, or wait for a person's word. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'not-an-agent',
  'disabled',
  'untrusted',
  'changed',
]);

/** What the search left out where an agent may have been meant: links, pipes, what lies too deep. */
export function skippedFindings(
  skipped: readonly SkippedPath[],
  problems: readonly AgentProblem[],
): readonly Finding[] {
  const told = new Set(problems.map(({ path }) => path));
  return skipped
    .filter(({ code, path }) => !told.has(path) && !PASSED_OVER.has(code))
    .map(({ code, path, reason }) => {
      const message = `It is left out. ${reason}`;
      return { code, severity: 'warning', path, line: null, agent: null, message, fix: null };
    });
}
