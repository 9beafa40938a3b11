import type { AgentProblem } from '../../protocol/agent.ts';
import { OWN_COMMAND_NAMES } from '../../protocol/own-commands.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import {
  listDefinitions,
  type DiscoveryResult,
  type ListingState,
} from '../loader/discovery-result.ts';
import type { SkippedPath } from '../loader/walk.ts';
import { describeSource } from './find-command.ts';
import { listShellParts } from './parse-body.ts';

/** A slash command as `commands list --json` prints it. */
export interface CommandListing
  extends ListingState, Pick<SlashCommandDefinition, 'name' | 'description' | 'path' | 'scope'> {
  /** The origin for people: `project, claude`, `user`, or `plugin NAME`. */
  readonly source: string;
  readonly argumentHint: string | null;
  /** `fork` if the command runs as a task of its own. */
  readonly context: 'fork' | null;
  /** The agent of this task, or null if the command does not run as a task. */
  readonly agent: string | null;
  /** The shell parts, as they stand in the file. */
  readonly shell: readonly string[];
  readonly shellRules: readonly string[];
  /** The rules that allow calls until the next message. */
  readonly turnRules: readonly string[];
  /** The name of the model that answers until the next message, or null for that of the conversation. */
  readonly model: string | null;
  /** A sentence for each field of the file that has no effect. */
  readonly withoutEffect: readonly string[];
  /** The reason why the name runs something else, or null. */
  readonly hidden: string | null;
  readonly warnings: readonly AgentProblem[];
}

export interface CommandListings {
  /** All slash commands, the shadowed ones last. */
  readonly commands: readonly CommandListing[];
  readonly skipped: readonly SkippedPath[];
  readonly problems: readonly AgentProblem[];
}

/** The names that run something else than a command from a file. */
export interface OtherNames {
  /** The names of the skills that a person can run. */
  readonly skills: readonly string[];
  /** The agent of a command that runs as a task and does not name an agent. */
  readonly defaultAgent: string;
}

/** Describes all slash commands for a listing. */
export function listSlashCommands(
  found: DiscoveryResult<SlashCommandDefinition>,
  names: OtherNames,
): CommandListings {
  const { skipped, problems } = found;
  const commands = listDefinitions(
    found,
    ({ path }) => path,
    (command) => describeCommand(command, names),
  );
  return { commands, skipped, problems };
}

function describeCommand(
  command: SlashCommandDefinition,
  names: OtherNames,
): Omit<CommandListing, keyof ListingState> {
  const { name, description, path, scope, argumentHint, context, agent } = command;
  const { shellRules, turnRules, model = null, withoutEffect, problems } = command;
  return {
    name,
    description,
    path,
    scope,
    source: describeSource(command),
    argumentHint: argumentHint ?? null,
    context: context ?? null,
    agent: context === undefined ? null : (agent ?? names.defaultAgent),
    shell: listShellParts(command),
    shellRules,
    turnRules,
    model,
    withoutEffect,
    hidden: findHidingReason(command, names),
    warnings: problems,
  };
}

function findHidingReason(
  { name, scope }: SlashCommandDefinition,
  { skills }: OtherNames,
): string | null {
  const isSame = (other: string): boolean => other.toLowerCase() === name.toLowerCase();
  const instead = `type /${scope}:${name} for this file`;
  if (OWN_COMMAND_NAMES.has(name.toLowerCase())) {
    return `/${name} is a command of Muster in the terminal UI; ${instead}`;
  }
  if (skills.some(isSame)) return `/${name} is a skill; ${instead}`;
  return null;
}
