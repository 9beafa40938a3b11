import { isAbsolute, join, normalize } from 'node:path';
import { plural } from '../../base/text.ts';
import type { AgentProblem } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { referencedFiles } from './references.ts';

/** Limits of the Agent Skills format, in characters. */
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
/** Letters, digits and single hyphens between them. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** What the format recommends, for what a model reads at once. */
const MAX_LINES = 500;
const MAX_TOKENS = 5_000;
/** Fewer characters say what it does or when to use it, and not both. */
const SHORTEST_DESCRIPTION = 20;

/** An error keeps the skill from working as it is meant, here or in other products of the format. */
export interface SkillFinding extends AgentProblem {
  readonly severity: 'error' | 'warning';
}

/** What a lint has to know besides the skill itself. */
export interface LintFacts {
  /** Whether an agent of this name can be used. */
  isAgent(name: string): boolean;
  /** Whether something is there; absolute. */
  exists(path: string): boolean;
  /** Whether a text holds what looks like a key or a password. */
  holdsSecret(text: string): boolean;
  tokens(text: string): number;
}

/** Codes of what was told when the skill was read, and is an error. */
const ERRORS: ReadonlySet<string> = new Set([
  'missing-description',
  'frontmatter-missing',
  'name-differs-from-folder',
  'invalid-yaml',
  'invalid-tools',
  'no-instructions',
]);

/** All that is wrong with a skill, as it was read and as it would be used. */
export function lintSkill(skill: SkillDefinition, facts: LintFacts): readonly SkillFinding[] {
  const { path } = skill;
  const told = skill.problems.map((problem) => findingOf(problem, severityOf(problem)));
  const found = [
    ...nameFindings(skill),
    ...descriptionFindings(skill),
    ...taskFindings(skill, facts),
    ...sizeFindings(skill, facts),
    ...fileFindings(skill, facts),
  ];
  return [
    ...told,
    ...found.map(({ severity, code, message }) => ({ severity, code, message, path })),
  ];
}

type Finding = Omit<SkillFinding, 'path'>;

/** What was told when a file was read, as a finding. */
export function findingOf(problem: AgentProblem, severity: SkillFinding['severity']): SkillFinding {
  return { ...problem, severity };
}

function severityOf({ code }: AgentProblem): SkillFinding['severity'] {
  return ERRORS.has(code) ? 'error' : 'warning';
}

function nameFindings({ name: whole, scope }: SkillDefinition): readonly Finding[] {
  // That of its plugin before it is not the skill's own.
  const name = scope === 'plugin' ? whole.slice(whole.indexOf(':') + 1) : whole;
  const findings: Finding[] = [];
  if (!NAME.test(name)) {
    const message = `The name \`${name}\` is not made of a-z, 0-9 and single hyphens. Rename the folder.`;
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
    const message = `The description has ${description.length} characters; the format allows ${MAX_DESCRIPTION}. Say what it does and when to use it, and leave the rest to the text.`;
    return [{ severity: 'error', code: 'description-too-long', message }];
  }
  if (description.length >= SHORTEST_DESCRIPTION) return [];
  const message = `The description is too short to choose by. Say what it does and when to use it.`;
  return [{ severity: 'warning', code: 'description-too-short', message }];
}

function taskFindings(skill: SkillDefinition, { isAgent }: LintFacts): readonly Finding[] {
  const { context, agent, allowedTools } = skill;
  if (context !== 'fork') {
    if (allowedTools === undefined) return [];
    const message =
      '`allowed-tools` has no effect without `context: fork`: a skill grants nothing, and whoever follows it keeps its tools.';
    return [{ severity: 'warning', code: 'allowed-tools-without-fork', message }];
  }
  const findings: Finding[] = [];
  if (agent !== undefined && !isAgent(agent)) {
    const message = `There is no agent \`${agent}\`: calls of the skill fail. \`muster agents list\` names those that there are.`;
    findings.push({ severity: 'error', code: 'unknown-agent', message });
  }
  if (allowedTools?.length === 0) {
    const message = '`allowed-tools` names no tool that there is: calls of the skill fail.';
    findings.push({ severity: 'error', code: 'no-known-tools', message });
  }
  return findings;
}

function sizeFindings({ body }: SkillDefinition, { tokens }: LintFacts): readonly Finding[] {
  const lines = body.split('\n').length;
  const size = tokens(body);
  if (lines <= MAX_LINES && size <= MAX_TOKENS) return [];
  const message = `The text has ${plural(lines, 'line')} and about ${plural(size, 'token')}; up to ${MAX_LINES} and ${MAX_TOKENS} are recommended. Move details into files beside it, and say when to read which.`;
  return [{ severity: 'warning', code: 'long-text', message }];
}

function fileFindings(skill: SkillDefinition, facts: LintFacts): readonly Finding[] {
  const { body, description, directory } = skill;
  const findings: Finding[] = [];
  for (const { path, isLink } of referencedFiles(body)) {
    const isOutside = isAbsolute(path) || normalize(path).startsWith('..');
    if (isOutside || facts.exists(join(directory, path))) continue;
    const message = `It names \`${path}\`, which is not in its folder.`;
    findings.push({ severity: isLink ? 'error' : 'warning', code: 'missing-file', message });
  }
  if (facts.holdsSecret(`${description}\n${body}`)) {
    const message =
      'It holds what looks like a key. Take it out, and say where to find it instead (a variable of the environment).';
    findings.push({ severity: 'error', code: 'secret', message });
  }
  return findings;
}
