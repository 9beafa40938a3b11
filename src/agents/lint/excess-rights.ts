import type { AgentDefinition } from '../../protocol/agent.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { fieldLine } from './field-line.ts';
import type { Lint, LintContext } from './findings.ts';

/** Example dialogues in a description, in which other people and agents speak, too. */
const EXAMPLES = /<(examples?|commentary)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
/** Matches a description of an agent that changes nothing at all. */
const CHANGES_NOTHING =
  /\bread[- ]?only\b|\bonly reads?\b|\b(?:never|not|without) (?:ever )?(?:edit(?:s|ing)?|modif(?:y|ies|ying)|writ(?:e|es|ing)|chang(?:e|es|ing)|touch(?:es|ing)?|alter(?:s|ing)?)\b|\bno (?:edits|changes|modifications|side effects)\b|\bchang(?:es|ing) nothing\b/i;
/** Matches a description of an agent that only looks at things, which needs no tools that write. */
const LOOKS =
  /^\W*(?:\w+ ){0,3}?(?:reviews?|reads?|reports?|audits?|inspects?|explores?|searches|summari[sz]es)\b/i;
/** Matches a description that also mentions changes. */
const ALSO_CHANGES =
  /\b(?:fix|edit|writ|chang|updat|implement|creat|generat|refactor|appl|modif|add|remov|improv|deploy)\w*/i;

const WRITERS = ['Write', 'Edit', 'MultiEdit', 'MoveFile', 'DeleteFile'];

/** Reports tools that exceed what the description says, and a mode that exceeds what it will get. */
export function lintExcessRights(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  return [...lintWidth(agent, context), ...lintMode(agent, context)];
}

function lintWidth(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  // In plan mode, no tool can change anything.
  if (agent.mode === 'plan' || agent.unusable !== undefined) return [];
  const description = agent.description.replaceAll(EXAMPLES, ' ');
  const changesNothing = CHANGES_NOTHING.test(description);
  if (!changesNothing && (!LOOKS.test(description) || ALSO_CHANGES.test(description))) return [];
  const wide = [...WRITERS, ...(changesNothing ? ['Bash'] : [])].filter((name) => has(agent, name));
  if (wide.length === 0) return [];
  const claim = changesNothing ? 'that it changes nothing' : 'that it only looks at things';
  const which =
    agent.tools.mode === 'allow'
      ? wide.join(', ')
      : `the full core set, including ${wide.join(', ')}`;
  return [
    {
      code: 'too-wide-tools',
      severity: 'warning',
      message: `Its description says ${claim}, but its tools include ${which}.`,
      fix: 'List the tools that it needs, for example `tools: Read, Grep, Glob`, or write `permission-mode: plan`.',
      line:
        fieldLine(context.text, ['tools', 'allowed-tools']) ??
        fieldLine(context.text, ['description']),
    },
  ];
}

function has({ tools, disallowedTools }: AgentDefinition, name: string): boolean {
  if (denies(disallowedTools, name)) return false;
  if (tools.mode === 'allow') return tools.names.includes(name);
  const onRequest = name === 'MoveFile' || name === 'DeleteFile';
  return !onRequest && !(tools.mode === 'deny' && denies(tools.names, name));
}

/** Denying Edit also denies MultiEdit. */
function denies(names: readonly string[], name: string): boolean {
  return names.includes(name) || (name === 'MultiEdit' && names.includes('Edit'));
}

/** Whether a grant in the configuration can apply: it cannot for files of projects and plugins, which other people write. */
function mayStandInConfiguration({ origin }: AgentDefinition): boolean {
  return origin.scope !== 'project' && origin.scope !== 'plugin';
}

function lintMode(agent: AgentDefinition, context: LintContext): readonly Lint[] {
  const { effectiveMode, parentMode, text } = context;
  if (agent.mode === null) return [];
  if (PERMISSION_MODES.indexOf(agent.mode) <= PERMISSION_MODES.indexOf(effectiveMode)) return [];
  const asked = agent.permissionMode ?? agent.mode;
  return [
    {
      code: 'mode-not-granted',
      severity: 'note',
      message: `It requests the mode ${asked} and gets ${effectiveMode}: without your grant, no agent gets more rights than the main agent (${parentMode}).`,
      fix: `To grant it to this agent, start with \`--agent-mode ${agent.name}=${agent.mode}\`${mayStandInConfiguration(agent) ? ', or set permissions.agent_modes in your configuration' : ''}.`,
      line: fieldLine(text, ['permission-mode', 'approval-mode', 'sandbox-mode']),
    },
  ];
}
