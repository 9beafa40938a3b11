import { dirname } from 'node:path';
import { byteLength, collapseWhitespace } from '../../base/text.ts';
import { FILE_CHANGING_TOOLS, FILE_REMOVING_TOOLS, PATCH_TOOL } from '../../protocol/file-tools.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { lookUpAgent } from '../find-agent.ts';
import { findFieldLine, type Finding, type Lint, type LintContext } from './findings.ts';
import { lintInactive, lintProblems } from './loading-problems.ts';

/**
 * Checks a definition and its file, and sorts the findings by line. No file is read, so the agent does not need to be
 * trusted.
 */
export function lintAgent(agent: AgentDefinition, context: LintContext): readonly Finding[] {
  const lints = [
    ...lintSecrets(context),
    ...lintUnusable(agent),
    ...lintProblems(agent.problems),
    ...lintDescription(agent, context),
    ...lintPrompt(agent),
    ...lintRemote(agent, context),
    ...lintModel(agent, context),
    ...lintOutputSchema(context),
    ...lintExcessRights(agent, context),
    ...lintDelegates(context),
    ...lintInactive(agent, context),
    ...lintNameConflicts(agent, context),
  ];
  return lints
    .map((lint) => createFinding(agent, lint))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

function createFinding({ name, origin }: AgentDefinition, { line, ...lint }: Lint): Finding {
  return { ...lint, path: origin.path, line: line ?? null, agent: name };
}

function lintSecrets({ secrets }: LintContext): readonly Lint[] {
  return secrets.map(({ line, what }) => ({
    code: 'secret',
    severity: 'error',
    message: `This looks like a secret: ${what}. It would be part of every request of the agent, and everybody with the file could read it.`,
    fix: 'Remove it, revoke it, and refer to an environment variable instead.',
    line,
  }));
}

function lintUnusable({ unusable, problems }: AgentDefinition): readonly Lint[] {
  // These problems from loading have a line and say more, so they are not reported twice.
  const isReported = problems.some(
    ({ code }) =>
      code === 'no-known-tools' || code === 'invalid-tools' || code === 'invalid-remote',
  );
  if (unusable === undefined || isReported) return [];
  const message = `It cannot be started: ${unusable}`;
  return [{ code: 'unusable', severity: 'error', message, fix: null }];
}

function lintPrompt({ prompt, remote }: AgentDefinition): readonly Lint[] {
  if (prompt.trim() !== '' || remote !== undefined) return [];
  const message = 'The prompt is empty, so the agent has no instructions of its own.';
  const fix = 'Write below the front matter what it should do, and what its result should contain.';
  return [{ code: 'empty-prompt', severity: 'warning', message, fix }];
}

/** Matches the beginning of an address on this machine. */
const LOCAL_ADDRESS = /^http:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?:[:/]|$)/i;

/** Reports credentials that everybody on the way to a server can read. */
function lintRemote({ remote }: AgentDefinition, { text }: LintContext): readonly Lint[] {
  if (remote?.protocol !== 'a2a' || remote.auth === undefined) return [];
  const { card } = remote;
  if (typeof card !== 'string' || !/^http:/i.test(card) || LOCAL_ADDRESS.test(card)) return [];
  const message =
    'The credentials are sent without encryption, because the URL begins with http://.';
  const line = findFieldLine(text, ['a2a', 'agent-card-url']);
  return [{ code: 'plain-http', severity: 'warning', message, fix: 'Write https://.', line }];
}

function lintOutputSchema({ outputSchemaProblem, text }: LintContext): readonly Lint[] {
  if (outputSchemaProblem === null) return [];
  const message = `It cannot be started, because the schema of its answers cannot be used: ${outputSchemaProblem}`;
  const fix = 'Correct the schema, or remove it.';
  const line = findFieldLine(text, ['output-schema', 'response']);
  return [{ code: 'invalid-output-schema', severity: 'error', message, fix, line }];
}

function lintModel(agent: AgentDefinition, { model: outlook, text }: LintContext): readonly Lint[] {
  const { model } = agent;
  if (model === undefined || outlook.warning === null) return [];
  const severity = outlook.isConfigured ? 'warning' : 'note';
  const fix = `Write a tier (fast, balanced, powerful) or inherit, or configure the provider; see \`muster models\`.`;
  const line = findFieldLine(text, ['model']);
  return [{ code: 'unknown-model', severity, message: outlook.warning, fix, line }];
}

/** The minimum number of words of a description in Latin letters. */
const MIN_WORDS = 4;
/** The minimum number of characters, for scripts without spaces between words. */
const MIN_CHARACTERS = 8;
/** The maximum number of bytes of a description. The main agent sees only a smaller part of it. */
const MAX_BYTES = 2048;

/**
 * Matches words about when to use an agent. Every useful description has such a word or a verb for what the agent does.
 */
const USE_WORDS =
  /\b(?:use[ds]?|using|when(?:ever)?|if|for|to|after|before|that|who|which|with|must|should|can|will)\b/i;
/** Matches verbs for what agents do. */
const VERB =
  /\b(?:analy[sz]|answer|audit|build|check|condens|convert|coordinat|creat|debug|deploy|design|detect|develop|document|edit|evaluat|execut|explain|explor|extract|find|fix|format|generat|guid|handl|help|implement|improv|investigat|maintain|manag|migrat|monitor|optimi[sz]|orchestrat|organi[sz]|plan|prepar|read|refactor|report|research|review|run|scan|search|stud|summari[sz]|test|track|translat|updat|validat|verif|watch|writ)(?:e|es|s|ed|ing|y|ies|t|ts)?\b/i;

const FIX =
  'Say what it does and when to use it, for example: Reviews database migrations. Use after a change to the schema.';

/** Reports a description that does not help the main agent to choose an agent. */
function lintDescription(agent: AgentDefinition, { text }: LintContext): readonly Lint[] {
  const description = collapseWhitespace(agent.description);
  const line = findFieldLine(text, ['description']);
  if (description === '') {
    const message = 'There is no description: the main agent cannot know when to use it.';
    return [{ code: 'missing-description', severity: 'warning', message, fix: FIX, line }];
  }
  const vague = describeVagueness(description, agent.name);
  if (vague !== null) {
    const message = `The description is too vague: ${vague}.`;
    return [{ code: 'vague-description', severity: 'warning', message, fix: FIX, line }];
  }
  const bytes = byteLength(agent.description);
  if (bytes <= MAX_BYTES) return [];
  const message = `The description is ${bytes} bytes long; the main agent sees only its beginning.`;
  const fix =
    'Put the most important points into the first two sentences, and the rest into the prompt.';
  return [{ code: 'long-description', severity: 'note', message, fix, line }];
}

function describeVagueness(description: string, name: string): string | null {
  if (keepLetters(description) === keepLetters(name)) return 'it only repeats the name';
  const isLatin = /^[\u0020-\u024f]*$/.test(description);
  if (!isLatin) return description.length < MIN_CHARACTERS ? 'it is very short' : null;
  if (description.split(' ').length < MIN_WORDS) return 'it is very short';
  // The words above are English, but other languages use Latin letters, too, so they are checked only in ASCII text.
  const isEnglish = /^[\u0020-\u007e\u2010-\u2026]*$/.test(description);
  const isUseful = USE_WORDS.test(description) || VERB.test(description);
  return isEnglish && !isUseful ? 'it says neither what it does nor when to use it' : null;
}

function keepLetters(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

const OTHER_NAME = 'Rename one of them.';

/** Reports other agents with the name of this agent. */
function lintNameConflicts(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  const line = findFieldLine(context.text, ['name']);
  const { shadowedBy, shadows } = context;
  // The agent that replaces a built-in one reports it.
  const isReported = agent.origin.scope === 'builtin';
  const lints: Lint[] = [];
  if (shadowedBy !== null && !isReported) lints.push({ ...lintShadowed(agent, shadowedBy), line });
  if (context.clash !== null) {
    const message = context.clash;
    lints.push({ code: 'id-clash', severity: 'warning', message, fix: OTHER_NAME, line });
  }
  for (const { origin, name } of shadows) {
    if (origin.scope !== 'builtin') continue;
    const message = `It replaces the built-in agent \`${name}\` everywhere.`;
    const fix = 'If you do not want that, rename it.';
    lints.push({ code: 'replaces-built-in', severity: 'note', message, fix, line });
  }
  return lints;
}

/**
 * Reports an agent that is not used because of another agent with the same name. In one directory this is a mistake. In
 * different directories it is intended, because the search order decides.
 */
function lintShadowed(agent: AgentDefinition, by: AgentDefinition): Lint {
  const { path } = by.origin;
  if (dirname(agent.origin.path) === dirname(path)) {
    const message = `It is never used: ${path} in the same folder has the same name, and comes first.`;
    return { code: 'same-name', severity: 'warning', message, fix: OTHER_NAME };
  }
  const message = `It is not used here: ${path} has the same name, and has precedence.`;
  const fix = 'To use both, rename one of them.';
  return { code: 'shadowed', severity: 'note', message, fix };
}

/**
 * Returns the agents that a definition may delegate to (`delegates-to`, or `Task(…)` in its tools), but that do not
 * exist.
 */
export function findMissingDelegates(
  { delegatesTo = [] }: Pick<AgentDefinition, 'delegatesTo'>,
  agents: readonly AgentDefinition[],
): readonly string[] {
  return delegatesTo.filter((word) => lookUpAgent(word, agents) === undefined);
}

export function unknownDelegateMessage(word: string): string {
  return `It may delegate to \`${word}\`, but there is no such agent.`;
}

/** Reports agents that the agent may delegate to, but that do not exist. */
function lintDelegates(context: Pick<LintContext, 'missingDelegates' | 'text'>): readonly Lint[] {
  const { missingDelegates: missing, text } = context;
  return missing.map((word) => ({
    code: 'unknown-agent',
    severity: 'warning',
    message: unknownDelegateMessage(word),
    fix: 'Correct the name, or remove it.',
    line: findFieldLine(text, ['delegates-to', 'agents']) ?? findFieldLine(text, ['tools']),
  }));
}

/** Matches example dialogues in a description. They are ignored, because other people and agents speak in them. */
const EXAMPLES = /<(examples?|commentary)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
/** Matches a description of an agent that changes nothing at all. */
const CHANGES_NOTHING =
  /\bread[- ]?only\b|\bonly reads?\b|\b(?:never|not|without) (?:ever )?(?:edit(?:s|ing)?|modif(?:y|ies|ying)|writ(?:e|es|ing)|chang(?:e|es|ing)|touch(?:es|ing)?|alter(?:s|ing)?)\b|\bno (?:edits|changes|modifications|side effects)\b|\bchang(?:es|ing) nothing\b/i;
/** Matches a description of an agent that only examines things, and therefore needs no tools that write. */
const ONLY_EXAMINES =
  /^\W*(?:\w+ ){0,3}?(?:reviews?|reads?|reports?|audits?|inspects?|explores?|searches|summari[sz]es)\b/i;
/** Matches a description that also mentions changes. */
const ALSO_CHANGES =
  /\b(?:fix|edit|writ|chang|updat|implement|creat|generat|refactor|appl|modif|add|remov|improv|deploy)\w*/i;

/**
 * Reports tools that can do more than the description says, and a requested mode that is wider than the mode that the
 * agent gets.
 */
function lintExcessRights(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  return [...lintTools(agent, context), ...lintMode(agent, context)];
}

function lintTools(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  // In plan mode, no tool can change files.
  if (agent.mode === 'plan' || agent.unusable !== undefined) return [];
  const description = agent.description.replaceAll(EXAMPLES, ' ');
  const changesNothing = CHANGES_NOTHING.test(description);
  if (!changesNothing && (!ONLY_EXAMINES.test(description) || ALSO_CHANGES.test(description)))
    return [];
  const writingTools = [...FILE_CHANGING_TOOLS, ...(changesNothing ? ['Bash'] : [])].filter(
    // An agent has the tool for patches only together with Write and Edit.
    (name) => name !== PATCH_TOOL && canUseTool(agent, name),
  );
  if (writingTools.length === 0) return [];
  const claim = changesNothing ? 'that it changes nothing' : 'that it only looks at things';
  const which =
    agent.tools.mode === 'allow'
      ? writingTools.join(', ')
      : `the full core set, including ${writingTools.join(', ')}`;
  const message = `Its description says ${claim}, but its tools include ${which}.`;
  const fix = `List the tools that it needs, for example \`tools: Read, Grep, Glob\`, or write \`permission-mode: plan\`.`;
  const { text } = context;
  const line =
    findFieldLine(text, ['tools', 'allowed-tools']) ?? findFieldLine(text, ['description']);
  return [{ code: 'too-wide-tools', severity: 'warning', message, fix, line }];
}

function canUseTool({ tools, disallowedTools }: AgentDefinition, name: string): boolean {
  if (denies(disallowedTools, name)) return false;
  if (tools.mode === 'allow') return tools.names.includes(name);
  // A task gets the tool for patches only in place of tools that are reported already.
  const onRequest = FILE_REMOVING_TOOLS.includes(name) || name === PATCH_TOOL;
  return !onRequest && !(tools.mode === 'deny' && denies(tools.names, name));
}

/** Returns whether a list denies a tool. A denial of Edit also denies MultiEdit. */
function denies(names: readonly string[], name: string): boolean {
  return names.includes(name) || (name === 'MultiEdit' && names.includes('Edit'));
}

/**
 * Returns whether a mode grant in the configuration can apply to an agent. It cannot apply to agents of projects and
 * plugins, because other people write their files.
 */
function canGrantInConfiguration({ origin }: AgentDefinition): boolean {
  return origin.scope !== 'project' && origin.scope !== 'plugin';
}

function lintMode(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  const { effectiveMode, parentMode, text } = context;
  if (agent.mode === null) return [];
  if (PERMISSION_MODES.indexOf(agent.mode) <= PERMISSION_MODES.indexOf(effectiveMode)) return [];
  const asked = agent.permissionMode ?? agent.mode;
  const message = `It requests the mode ${asked} and gets ${effectiveMode}: without your grant, no agent gets more rights than the main agent (${parentMode}).`;
  const fix = `To grant it to this agent, start with \`--agent-mode ${agent.name}=${agent.mode}\`${canGrantInConfiguration(agent) ? ', or set permissions.agent_modes in your configuration' : ''}.`;
  const line = findFieldLine(text, ['permission-mode', 'approval-mode', 'sandbox-mode']);
  return [{ code: 'mode-not-granted', severity: 'note', message, fix, line }];
}
