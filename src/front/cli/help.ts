import { Command, Option } from 'commander';
import { COMMAND_KINDS, commandSpec, RUN, type CommandKind } from './command-table.ts';
import type { CommandSpec } from './command-spec.ts';
import { flagSpec, type FlagName, type FlagSpec } from './flags.ts';
import type { HelpTopic } from './command.ts';

/** Fixed, so that the text does not depend on where it is printed. */
const WIDTH = 96;

export function helpText(topic: HelpTopic): string {
  if (topic === 'program') return mainHelp();
  const [only, second] = topic;
  return only !== undefined && second === undefined ? commandHelp(only) : groupHelp(topic);
}

/** `-p, --print [PROMPT]`: as commander and the help write a flag. */
function flagSyntax(name: FlagName, { optionalValue, short, value }: FlagSpec): string {
  const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
  if (value === undefined) return names;
  return optionalValue === true ? `${names} [${value}]` : `${names} <${value}>`;
}

/** The help of the program: usage, commands, the flags of a run by group, examples. */
function mainHelp(): string {
  return listOf(COMMAND_KINDS, helpCommand(RUN))
    .description(`${RUN.summary}\n\nExamples:\n${examples(RUN)}`)
    .usage(
      '[flags]                 (the terminal UI)\n       muster -p [PROMPT] [flags]\n       muster COMMAND [flags]',
    )
    .helpInformation();
}

function commandHelp(kind: CommandKind): string {
  const spec = commandSpec(kind);
  const summary = `${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`;
  return helpCommand(spec)
    .description(`${summary}\n\nExamples:\n${examples(spec)}`)
    .usage(`${usageWords(spec)} [flags]`)
    .helpInformation();
}

/** What there is of commands with the same first words. */
function groupHelp(kinds: readonly CommandKind[]): string {
  const [first = ''] = kinds.map((kind) => commandSpec(kind).words.split(' ')[0]);
  return listOf(kinds, helpCommand({ ...RUN, flags: [] }))
    .description(`Help for one of them:\n  muster help ${first} COMMAND`)
    .usage(`${first} COMMAND [flags]`)
    .helpInformation();
}

/** Lists the commands with what they do. */
function listOf(kinds: readonly CommandKind[], help: Command): Command {
  for (const kind of kinds) {
    const spec = commandSpec(kind);
    help.addCommand(new Command(usageWords(spec)).summary(spec.summary).helpOption(false));
  }
  return help;
}

function helpCommand(spec: CommandSpec): Command {
  const command = new Command('muster')
    .helpOption(false)
    .helpCommand(false)
    .configureOutput({ getOutHelpWidth: () => WIDTH })
    .configureHelp({ subcommandTerm: (subcommand) => subcommand.name() });
  for (const name of spec.flags) {
    const flag: FlagSpec = { ...flagSpec(name), ...spec.flagHelp?.[name] };
    command.addOption(new Option(flagSyntax(name, flag), flag.help).helpGroup(`${flag.group}:`));
  }
  return command;
}

function usageWords(spec: CommandSpec): string {
  return [spec.words, ...spec.operands].join(' ');
}

function examples(spec: CommandSpec): string {
  return spec.examples.map((example) => `  ${example}`).join('\n');
}
