import { isAbsolute, join, normalize } from 'node:path';
import { plural } from '../../base/text.ts';
import type { AgentProblem } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';

/** Limits of the Agent Skills format, in characters. */
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
/** Letters, digits and single hyphens between them. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** The size that the format recommends for a text that a model reads at once. */
const MAX_LINES = 500;
const MAX_TOKENS = 5_000;
/** A description with fewer characters cannot say both what it does and when to use it. */
const MIN_DESCRIPTION = 20;

/** A finding about a skill. With an error, it does not work as intended, here or in other products with this format. */
export interface SkillFinding extends AgentProblem {
  readonly severity: 'error' | 'warning';
}

/** The functions that the lint needs besides the skill itself. */
export interface SkillLintContext {
  /** Whether an agent of this name can be used. */
  isAgent(name: string): boolean;
  /** Whether an absolute path exists. */
  exists(path: string): boolean;
  /** Whether a text contains something that looks like a key or a password. */
  holdsSecret(text: string): boolean;
  tokens(text: string): number;
}

/** The codes of problems from reading a skill that are errors. */
const ERRORS: ReadonlySet<string> = new Set(
  (
    'missing-description frontmatter-missing name-differs-from-folder invalid-yaml ' +
    'invalid-tools no-instructions'
  ).split(' '),
);

/** Checks a skill, and returns the problems from reading it and those of its use. */
export function lintSkill(
  skill: SkillDefinition,
  facts: SkillLintContext,
): readonly SkillFinding[] {
  const { path } = skill;
  const reported = skill.problems.map((problem) =>
    createSkillFinding(problem, severityOf(problem)),
  );
  const found = [
    ...nameFindings(skill),
    ...descriptionFindings(skill),
    ...taskFindings(skill, facts),
    ...sizeFindings(skill, facts),
    ...fileFindings(skill, facts),
  ];
  return [
    ...reported,
    ...found.map(({ severity, code, message }) => ({ severity, code, message, path })),
  ];
}

type Finding = Omit<SkillFinding, 'path'>;

/** Returns the finding for a problem from reading a file. */
export function createSkillFinding(
  problem: AgentProblem,
  severity: SkillFinding['severity'],
): SkillFinding {
  return { ...problem, severity };
}

function severityOf({ code }: AgentProblem): SkillFinding['severity'] {
  return ERRORS.has(code) ? 'error' : 'warning';
}

function nameFindings({ name: whole, scope }: SkillDefinition): readonly Finding[] {
  // The name of a plugin before it is not part of the skill's own name.
  const name = scope === 'plugin' ? whole.slice(whole.indexOf(':') + 1) : whole;
  const findings: Finding[] = [];
  if (!NAME.test(name)) {
    const message = `The name \`${name}\` may only contain a-z, 0-9 and single hyphens. Rename the folder.`;
    findings.push({ severity: 'error', code: 'name-characters', message });
  }
  if (name.length > MAX_NAME) {
    const message = `The name has ${name.length} characters; the format allows ${MAX_NAME}. Rename the folder.`;
    findings.push({ severity: 'error', code: 'name-too-long', message });
  }
  return findings;
}

function descriptionFindings({ description, problems }: SkillDefinition): readonly Finding[] {
  if (problems.some(({ code }) => code === 'missing-description')) return [];
  if (description.length > MAX_DESCRIPTION) {
    const message = `The description has ${description.length} characters; the format allows ${MAX_DESCRIPTION}. Say what it does and when to use it, and put the rest into the text.`;
    return [{ severity: 'error', code: 'description-too-long', message }];
  }
  if (description.length >= MIN_DESCRIPTION) return [];
  const message = `The description is too short. Say what it does and when to use it.`;
  return [{ severity: 'warning', code: 'description-too-short', message }];
}

function taskFindings(skill: SkillDefinition, { isAgent }: SkillLintContext): readonly Finding[] {
  const { context, agent, allowedTools } = skill;
  if (context !== 'fork') {
    if (allowedTools === undefined) return [];
    const message =
      '`allowed-tools` has no effect without `context: fork`: a skill grants nothing, and the agent that follows it keeps its tools.';
    return [{ severity: 'warning', code: 'allowed-tools-without-fork', message }];
  }
  const findings: Finding[] = [];
  if (agent !== undefined && !isAgent(agent)) {
    const message = `There is no agent \`${agent}\`: calls of the skill fail. \`muster agents list\` lists the agents.`;
    findings.push({ severity: 'error', code: 'unknown-agent', message });
  }
  if (allowedTools?.length === 0) {
    const message = '`allowed-tools` names no existing tool: calls of the skill fail.';
    findings.push({ severity: 'error', code: 'no-known-tools', message });
  }
  return findings;
}

function sizeFindings({ body }: SkillDefinition, { tokens }: SkillLintContext): readonly Finding[] {
  const lines = body.split('\n').length;
  const size = tokens(body);
  if (lines <= MAX_LINES && size <= MAX_TOKENS) return [];
  const message = `The text has ${plural(lines, 'line')} and about ${plural(size, 'token')}; up to ${MAX_LINES} and ${MAX_TOKENS} are recommended. Move details into files in its folder, and say when to read them.`;
  return [{ severity: 'warning', code: 'long-text', message }];
}

function fileFindings(skill: SkillDefinition, facts: SkillLintContext): readonly Finding[] {
  const { body, description, directory } = skill;
  const findings: Finding[] = [];
  for (const { path, isLink } of findFileReferences(body)) {
    const isOutside = isAbsolute(path) || normalize(path).startsWith('..');
    if (isOutside || facts.exists(join(directory, path))) continue;
    const message = `It refers to \`${path}\`, which is not in its folder.`;
    findings.push({ severity: isLink ? 'error' : 'warning', code: 'missing-file', message });
  }
  if (facts.holdsSecret(`${description}\n${body}`)) {
    const message =
      'It contains something that looks like a key. Remove it, and refer to an environment variable instead.';
    findings.push({ severity: 'error', code: 'secret', message });
  }
  return findings;
}

/** The end of `[text](path)`. */
const LINK = /\]\(<?([^()\s<>]{1,300})/g;
/** A path in one of the folders that the format defines for the files of a skill. */
const PLAIN_PATH =
  /(?<![\w./:-])(?:\.\/)?(?:scripts|references?|assets|resources)\/[\w./-]{0,300}\w\.\w{1,20}/g;
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:|#|\/|~|\$|\{|<)/i;
/** Characters of a path that gets its value only when the skill is used. */
const PATTERN = /[*{}$<>|]/;
/** The maximum number of references: more than a person would write into one file. */
const MAX_REFERENCES = 500;

/** A file that the instructions of a skill refer to. */
export interface Reference {
  /** The path as written, relative to the folder of the skill. */
  readonly path: string;
  /** Whether it is a link. A path without a link may also mean a file of the project. */
  readonly isLink: boolean;
}

/** Returns the files in its folder that the text of a skill refers to, without duplicates. Code blocks are ignored. */
export function findFileReferences(body: string): readonly Reference[] {
  const text = withoutCode(body);
  const links = [...text.matchAll(LINK)]
    .map((match) => (match[1] ?? '').replace(/#.*$/, ''))
    // An example of a link (`[name](url)`) is not a reference: a file has an extension or a folder.
    .filter((path) => /[./]/.test(path) && !ADDRESS.test(path) && !PATTERN.test(path));
  const words = [...text.matchAll(PLAIN_PATH)].map(([path]) => path);
  const found = new Map<string, Reference>();
  for (const path of words) found.set(path, { path, isLink: false });
  for (const path of links) found.set(path, { path, isLink: true });
  return [...found.values()].slice(0, MAX_REFERENCES);
}

/** Removes fenced code blocks. */
function withoutCode(body: string): string {
  return body.replaceAll(/^(```|~~~)[\s\S]*?^\1[^\n]*$/gm, '');
}
