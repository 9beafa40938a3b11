import { OWN_COMMAND_NAMES } from '../../protocol/own-commands.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import type { DiscoveryResult } from '../loader/discovery-result.ts';

/** The definitions that a person can run by a name after a slash. */
export interface NamedDefinitions {
  readonly commands: Pick<DiscoveryResult<SlashCommandDefinition>, 'items' | 'shadowed'>;
  readonly skills: readonly SkillDefinition[];
}

/** The definition that a typed name means. */
export type FoundCommand =
  | { readonly kind: 'command'; readonly command: SlashCommandDefinition }
  | { readonly kind: 'skill'; readonly skill: SkillDefinition };

/**
 * Finds the definition that a typed name means. Case is ignored. Names of Muster's own commands have precedence over
 * skills, and skills over commands. `project:NAME`, `user:NAME` and the name of a product, as in `claude:NAME`, also find a
 * command that is hidden. The folders of a command in Claude Code's format can be left out if its last name is unique.
 * Returns null if there is none.
 */
export function findSlashCommand(
  typed: string,
  { commands, skills }: NamedDefinitions,
): FoundCommand | null {
  const wanted = typed.toLowerCase();
  const isNamed = ({ name }: { readonly name: string }): boolean =>
    name.toLowerCase() === wanted && !OWN_COMMAND_NAMES.has(wanted);
  const skill = skills.find((each) => isRunnable(each) && isNamed(each));
  if (skill !== undefined) return { kind: 'skill', skill };
  const all = [...commands.items, ...commands.shadowed.map(({ item }) => item)];
  const command =
    commands.items.find(isNamed) ??
    all.find((each) => listQualifiedNames(each).includes(wanted)) ??
    findByLastName(wanted, commands.items);
  return command === undefined ? null : { kind: 'command', command };
}

/**
 * Finds the only command of Claude Code's format whose file has a name. In Claude Code, folders are not part of the name, so
 * `/component` runs `frontend/component.md`.
 */
function findByLastName(
  wanted: string,
  commands: readonly SlashCommandDefinition[],
): SlashCommandDefinition | undefined {
  if (OWN_COMMAND_NAMES.has(wanted)) return undefined;
  const found = commands.filter(
    ({ name, syntax }) => syntax === 'claude' && name.toLowerCase().endsWith(`:${wanted}`),
  );
  return found.length === 1 ? found[0] : undefined;
}

/** Returns the names that also say where a command comes from, in lower case. */
function listQualifiedNames({ name, scope, source, pluginDirectory }: SlashCommandDefinition) {
  if (pluginDirectory !== undefined) return [];
  return [scope, source].map((each) => `${each}:${name}`.toLowerCase());
}

function isRunnable({ userInvocable }: SkillDefinition): boolean {
  return userInvocable !== false;
}

/** A definition that a person can run, in a list. */
export interface OfferedCommand {
  readonly name: string;
  readonly argumentHint?: string;
  readonly description: string;
  /** The origin for people: `project`, `user, claude`, `plugin NAME`, or `skill, user`. */
  readonly source: string;
}

/**
 * Lists what a person can run by a name after a slash, in the order of the names. A command whose name runs something else
 * is listed as `project:NAME` or `user:NAME`. Commands that others of the same name shadow are left out.
 */
export function listOfferedCommands({
  commands,
  skills,
}: NamedDefinitions): readonly OfferedCommand[] {
  const runnable = skills.filter(
    (skill) => isRunnable(skill) && !OWN_COMMAND_NAMES.has(skill.name.toLowerCase()),
  );
  const taken = new Set(runnable.map(({ name }) => name.toLowerCase()));
  const offered = [
    ...runnable.map((skill) => describeOffer(skill, skill.name, `skill, ${skill.scope}`)),
    ...commands.items.map((command) => {
      const name = command.name.toLowerCase();
      const isHidden = taken.has(name) || OWN_COMMAND_NAMES.has(name);
      const typed = isHidden ? `${command.scope}:${command.name}` : command.name;
      return describeOffer(command, typed, describeSource(command));
    }),
  ];
  return offered.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function describeOffer(
  { description, argumentHint }: Pick<SkillDefinition, 'description' | 'argumentHint'>,
  name: string,
  source: string,
): OfferedCommand {
  return { name, description, source, ...(argumentHint === undefined ? {} : { argumentHint }) };
}

/** Describes where a command comes from: `project, claude`, `user`, or `plugin NAME`. */
export function describeSource({
  scope,
  source,
  pluginDirectory,
}: Pick<SlashCommandDefinition, 'scope' | 'source' | 'pluginDirectory'>): string {
  if (pluginDirectory !== undefined) return `plugin ${source}`;
  return source === 'muster' ? scope : `${scope}, ${source}`;
}
