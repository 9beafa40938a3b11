import { isAbsolute, join, normalize } from 'node:path';
import { plural } from '../../base/text.ts';
import type { AgentProblem } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';

/** The maximum number of characters of a name in the Agent Skills format. */
const MAX_NAME = 64;
/** The maximum number of characters of a description in the Agent Skills format. */
const MAX_DESCRIPTION = 1_024;
/** Matches letters and digits with single hyphens between them. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** The maximum number of lines that the format recommends for the text of a skill. */
const MAX_LINES = 500;
/** The maximum number of tokens that the format recommends for the text of a skill. */
const MAX_TOKENS = 5_000;
/**
 * The minimum number of characters of a description. A shorter one cannot say both what the skill does and when to use
 * it.
 */
const MIN_DESCRIPTION = 20;

/**
 * A finding about a skill. With an `error`, the skill does not work as intended, in Muster or in other products with
 * this format.
 */
export interface SkillFinding extends AgentProblem {
  readonly severity: 'error' | 'warning';
}

/** The functions that the lint needs in addition to the skill. */
export interface SkillLintContext {
  /** Returns whether an agent with this name can be used. */
  isAgent(name: string): boolean;
  /** Returns whether an absolute path exists. */
  exists(path: string): boolean;
  /** Returns whether a text contains something that looks like an API key or a password. */
  holdsSecret(text: string): boolean;
  /** Returns the estimated number of tokens of a text. */
  tokens(text: string): number;
}

/** The codes of problems from reading a skill that are errors. All other problems are warnings. */
const ERRORS: ReadonlySet<string> = new Set(
  (
    'missing-description frontmatter-missing name-differs-from-folder invalid-yaml ' +
    'invalid-tools no-instructions'
  ).split(' '),
);

/** Checks a skill. Returns the problems from reading it, and further findings. */
export function lintSkill(
  skill: SkillDefinition,
  context: SkillLintContext,
): readonly SkillFinding[] {
  const { path } = skill;
  const reported = skill.problems.map((problem) =>
    createSkillFinding(problem, chooseSeverity(problem)),
  );
  const found = [
    ...lintName(skill),
    ...lintDescription(skill),
    ...lintTask(skill, context),
    ...lintSize(skill, context),
    ...lintFiles(skill, context),
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

function chooseSeverity({ code }: AgentProblem): SkillFinding['severity'] {
  return ERRORS.has(code) ? 'error' : 'warning';
}

function lintName({ name: fullName, scope }: SkillDefinition): readonly Finding[] {
  // The name of the plugin in front is not part of the skill's own name.
  const name = scope === 'plugin' ? fullName.slice(fullName.indexOf(':') + 1) : fullName;
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

function lintDescription({ description, problems }: SkillDefinition): readonly Finding[] {
  if (problems.some(({ code }) => code === 'missing-description')) return [];
  if (description.length > MAX_DESCRIPTION) {
    const message = `The description has ${description.length} characters; the format allows ${MAX_DESCRIPTION}. Say what it does and when to use it, and put the rest into the text.`;
    return [{ severity: 'error', code: 'description-too-long', message }];
  }
  if (description.length >= MIN_DESCRIPTION) return [];
  const message = `The description is too short. Say what it does and when to use it.`;
  return [{ severity: 'warning', code: 'description-too-short', message }];
}

function lintTask(skill: SkillDefinition, { isAgent }: SkillLintContext): readonly Finding[] {
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

function lintSize({ body }: SkillDefinition, { tokens }: SkillLintContext): readonly Finding[] {
  const lines = body.split('\n').length;
  const size = tokens(body);
  if (lines <= MAX_LINES && size <= MAX_TOKENS) return [];
  const message = `The text has ${plural(lines, 'line')} and about ${plural(size, 'token')}; up to ${MAX_LINES} and ${MAX_TOKENS} are recommended. Move details into files in its folder, and say when to read them.`;
  return [{ severity: 'warning', code: 'long-text', message }];
}

function lintFiles(skill: SkillDefinition, context: SkillLintContext): readonly Finding[] {
  const { body, description, directory } = skill;
  const findings: Finding[] = [];
  for (const { path, isLink } of findFileReferences(body)) {
    const isOutside = isAbsolute(path) || normalize(path).startsWith('..');
    if (isOutside || context.exists(join(directory, path))) continue;
    const message = `It refers to \`${path}\`, which is not in its folder.`;
    findings.push({ severity: isLink ? 'error' : 'warning', code: 'missing-file', message });
  }
  if (context.holdsSecret(`${description}\n${body}`)) {
    const message =
      'It contains something that looks like a key. Remove it, and refer to an environment variable instead.';
    findings.push({ severity: 'error', code: 'secret', message });
  }
  return findings;
}

/** Matches the end of a link: `[text](path)`. */
const LINK = /\]\(<?([^()\s<>]{1,300})/g;
/** Matches a path in one of the directories that the format defines for the files of a skill. */
const PLAIN_PATH =
  /(?<![\w./:-])(?:\.\/)?(?:scripts|references?|assets|resources)\/[\w./-]{0,300}\w\.\w{1,20}/g;
/** Matches addresses and paths that do not name a file of the skill. */
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:|#|\/|~|\$|\{|<)/i;
/** Matches characters of a path with placeholders, which are replaced only when the skill is used. */
const PATTERN = /[*{}$<>|]/;
/** The maximum number of references. Nobody writes more into one file. */
const MAX_REFERENCES = 500;

/** A file that the instructions of a skill refer to. */
export interface Reference {
  /** The path as it is written, relative to the directory of the skill. */
  readonly path: string;
  /** Whether the path is in a link. A path outside of a link may also mean a file of the project. */
  readonly isLink: boolean;
}

/**
 * Returns the files in the skill's directory that the text of a skill refers to, without duplicates. Code blocks are
 * ignored.
 */
export function findFileReferences(body: string): readonly Reference[] {
  const text = removeCodeBlocks(body);
  const links = [...text.matchAll(LINK)]
    .map((match) => (match[1] ?? '').replace(/#.*$/, ''))
    // An example of a link (`[name](url)`) is not a reference. The path of a file has an extension or a directory.
    .filter((path) => /[./]/.test(path) && !ADDRESS.test(path) && !PATTERN.test(path));
  const words = [...text.matchAll(PLAIN_PATH)].map(([path]) => path);
  const found = new Map<string, Reference>();
  for (const path of words) found.set(path, { path, isLink: false });
  for (const path of links) found.set(path, { path, isLink: true });
  return [...found.values()].slice(0, MAX_REFERENCES);
}

/** Removes fenced code blocks. */
function removeCodeBlocks(body: string): string {
  return body.replaceAll(/^(```|~~~)[\s\S]*?^\1[^\n]*$/gm, '');
}
