import { commandFlags, commandsUnder, findCommand, type Command } from './command.ts';
import { promptCommand } from './commands/prompt.ts';
import { flagSpec, type FlagName, type FlagSpec } from './flags.ts';

/** The width of the help in columns, for every width of the terminal. */
const WIDTH = 96;

/** A term, such as a flag, and what it means. */
type Entry = readonly [term: string, meaning: string];
type Section = readonly [title: string, entries: readonly Entry[]];

/** Returns the help for the command or the group of commands that `words` name; without words, the help of the program. */
export function helpText(words: readonly string[], commands: readonly Command[]): string {
  if (words.length === 0) return programHelp(commands);
  const found = findCommand(commands, words);
  if (found !== undefined) return commandHelp(found.command);
  const [first = ''] = words;
  const description = `Help for one of them:\n  muster help ${first} COMMAND`;
  const section = commandSection(commandsUnder(commands, words));
  return layOut(`${first} COMMAND [flags]`, description, [section]);
}

function programHelp(commands: readonly Command[]): string {
  return layOut(
    '[flags]                 (the terminal UI)\n       muster -p [PROMPT] [flags]\n       muster COMMAND [flags]',
    `${promptCommand.summary}\n\n${examples(promptCommand)}`,
    [...flagSections(promptCommand), commandSection(commands)],
  );
}

function commandHelp(command: Command): string {
  const { summary } = command;
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const description = `${sentence}\n\n${examples(command)}`;
  return layOut(`${usage(command)} [flags]`, description, flagSections(command));
}

function commandSection(commands: readonly Command[]): Section {
  return ['Commands', commands.map((each) => [usage(each), each.summary])];
}

function flagSections(command: Command): readonly Section[] {
  const flags = commandFlags(command).map((name) => ({
    name,
    spec: { ...flagSpec(name), ...command.flagDetails?.[name] },
  }));
  return [...Map.groupBy(flags, ({ spec }) => spec.group)].map(([group, members]) => [
    group,
    members.map(({ name, spec }) => [flagSyntax(name, spec), spec.help]),
  ]);
}

/** Formats a flag for the help: `-p, --print [PROMPT]`. */
export function flagSyntax(name: FlagName, { hasOptionalValue, short, value }: FlagSpec): string {
  const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
  if (value === undefined) return names;
  return hasOptionalValue === true ? `${names} [${value}]` : `${names} <${value}>`;
}

function usage({ words, operands }: Command): string {
  return [words, ...operands.map(({ name }) => name)].join(' ');
}

function examples(command: Command): string {
  return ['Examples:', ...command.examples.map((example) => `  ${example}`)].join('\n');
}

function layOut(usage: string, description: string, sections: readonly Section[]): string {
  const terms = sections.flatMap(([, entries]) => entries.map(([term]) => term.length));
  const indent = Math.max(...terms) + 4;
  const parts = sections.map(([title, entries]) => {
    const lines = entries.flatMap(([term, meaning]) =>
      wrap(meaning, WIDTH - indent).map((line, index) =>
        `  ${index === 0 ? term : ''}`.padEnd(indent).concat(line),
      ),
    );
    return `${title}:\n${lines.join('\n')}\n`;
  });
  return [`Usage: muster ${usage}\n`, `${description}\n`, ...parts].join('\n');
}

/** Breaks a text at blanks into lines of at most `columns` columns; a longer word gets a line of its own. */
function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length === 0 || longer.length > columns) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
