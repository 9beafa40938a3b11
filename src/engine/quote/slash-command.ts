import { expandCommand, type ExpandedPart } from '../../agents/commands/expand.ts';
import { findSlashCommand, listOfferedCommands } from '../../agents/commands/find-command.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';
import { formatSkillTextWithin } from '../../agents/skills/text.ts';
import { UsageError } from '../../base/errors.ts';
import { removeHiddenCharacters } from '../../base/hidden-characters.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import { OWN_COMMAND_NAMES } from '../../protocol/own-commands.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import { readSlashText } from '../../protocol/slash-text.ts';
import type { EngineDeps } from '../task/deps.ts';
import { DEFAULT_AGENT } from '../task/task-arguments.ts';
import { createShellPart } from './shell-part.ts';

/** The slash command that a message runs, ready to be sent. */
interface QuotedSlashCommand {
  /** The text of the command, then its shell parts. */
  readonly items: readonly QuotedItem[];
  /** The text, in which files may be named with `@`. */
  readonly text: string;
  /** The paths of further files that the command sends. */
  readonly files: readonly string[];
  /** The command from a file; absent for a skill. */
  readonly command?: SlashCommandDefinition;
}

/** The maximum number of shell parts that one command runs. */
const MAX_SHELL_PARTS = 16;
/** The maximum length of the name of an item, in code points. */
const MAX_NAME_LENGTH = 300;

/**
 * Finds the slash command or the skill that a message runs, and inserts the arguments. The task runs the shell parts before it
 * sends the message. Returns null for a message that runs none. Rejects with UsageError if the arguments do not fit.
 */
export async function quoteSlashCommand(
  deps: EngineDeps,
  words: string,
): Promise<QuotedSlashCommand | null> {
  const typed = readSlashText(words);
  const { slashCommands: source, skills } = deps;
  if (typed === null || source === undefined) return null;
  await Promise.all([source.refresh(), skills.refresh()]);
  const definitions = { commands: source.commands(), skills: skills.skills() };
  const found = findSlashCommand(typed.name, definitions);
  if (found === null) return null;
  const shown = sanitizeLine(`/${typed.name} ${typed.argument}`.trim());
  const name = truncate(shown, MAX_NAME_LENGTH);
  if (found.kind === 'skill') {
    return quoteSkill(found.skill, { name, argument: typed.argument, deps });
  }
  const { command } = found;
  const { context, agent = DEFAULT_AGENT } = command;
  if (context === 'fork' && lookUpAgent(agent, deps.agents.agents()) === undefined) {
    const problem = `it runs as a task of the agent ${agent}, and there is no such agent: change ${sanitizeLine(command.path)}`;
    throw new UsageError(`/${command.name} is not sent: ${problem}`);
  }
  const expansion = expandCommand(command, typed.argument);
  if (!expansion.ok) throw new UsageError(`/${command.name} is not sent: ${expansion.problem}`);
  const { parts } = expansion;
  const shellParts = parts.filter(({ kind }) => kind === 'shell');
  if (shellParts.length > MAX_SHELL_PARTS) {
    const problem = `it has ${shellParts.length} shell parts, and the limit is ${MAX_SHELL_PARTS}`;
    throw new UsageError(`/${command.name} is not sent: ${problem}`);
  }
  const outputs = shellParts.map(({ text: line }) => createShellPart(line, command));
  const text = removeHiddenCharacters(parts.map(partText).join('').toWellFormed()).text;
  return {
    items: [createCommandItem(command, { name, text }), ...outputs],
    text,
    files: parts.flatMap((part) => (part.kind === 'file' ? [part.text] : [])),
    command,
  };
}

/** Returns the text that stands in the message for a part. The outputs and the files follow the message. */
function partText({ kind, text }: ExpandedPart): string {
  switch (kind) {
    case 'text':
      return text;
    case 'shell':
      return `[the output of ${JSON.stringify(text)}, which follows]`;
    case 'file':
      return `[the content of ${JSON.stringify(text)}, which follows]`;
    default:
      return kind satisfies never;
  }
}

function createCommandItem(
  { path, context, agent = DEFAULT_AGENT }: SlashCommandDefinition,
  { name, text }: { readonly name: string; readonly text: string },
): QuotedItem {
  const item = { kind: 'slash_command', name, text, nonce: drawNonce(text) } as const;
  const outcome = `It is defined in ${JSON.stringify(sanitizeLine(path))}.`;
  if (context === undefined) return { ...item, outcome };
  const order = `Run it as one task of the agent ${agent}: give the text, with what follows it, to the task as its prompt, and report the result.`;
  return { ...item, outcome: `${outcome} ${order}`, agent };
}

/** Quotes the instructions of a skill. A skill that runs as a task is called by the model, so that its tools are narrowed. */
function quoteSkill(
  skill: SkillDefinition,
  {
    name,
    argument,
    deps,
  }: {
    readonly name: string;
    readonly argument: string;
    readonly deps: Pick<EngineDeps, 'settings'>;
  },
): QuotedSlashCommand {
  const runsAsTask = skill.context === 'fork' && skill.modelInvocable;
  const text = runsAsTask
    ? `Call the Skill tool with skill ${JSON.stringify(skill.name)} and args ${JSON.stringify(argument)}, and report its result.`
    : formatSkillTextWithin(skill, argument, deps.settings.caps.resultBytes);
  const outcome = `It is the skill in ${JSON.stringify(sanitizeLine(skill.path))}.`;
  const item = { kind: 'slash_command', name, outcome, text, nonce: drawNonce(text) } as const;
  const items = [runsAsTask ? item : { ...item, skill: skill.name }];
  return { items, text: '', files: [] };
}

/** Throws UsageError, which names the nearest commands, for a message that can only be meant as a command. */
export function refuseUnknownCommand(
  { slashCommands: source, skills }: Pick<EngineDeps, 'slashCommands' | 'skills'>,
  words: string,
): void {
  const typed = readSlashText(words);
  if (typed === null || !typed.isCommandLike || source === undefined) return;
  if (OWN_COMMAND_NAMES.has(typed.name.toLowerCase())) {
    throw new UsageError(
      `/${typed.name} is a command of the terminal UI and does nothing here: start \`muster\` and type it there.`,
    );
  }
  const offered = listOfferedCommands({ commands: source.commands(), skills: skills.skills() });
  const names = offered.map(({ name }) => name);
  const wanted = typed.name.toLowerCase();
  const sameEnd = names.filter((name) => name.toLowerCase().endsWith(`:${wanted}`));
  const near = sameEnd.length > 0 ? sameEnd : suggestNames(typed.name, names);
  const hint =
    near.length === 0
      ? '`muster commands list` lists them.'
      : `Similar: ${near.map((name) => `/${name}`).join(', ')}.`;
  throw new UsageError(`there is no slash command /${typed.name} here. ${hint}`);
}
