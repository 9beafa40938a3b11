import { commandFlags, commandsUnder, findCommand, type Command } from './command.ts';
import { promptCommand } from './commands/prompt.ts';
import { flagSpec, type FlagName, type FlagSpec } from './flags.ts';

/** The width of the help in columns on a wide terminal, and where it is no terminal. */
const WIDTH = 96;
/** The minimum width. On a narrower terminal the terminal breaks the lines. */
const MIN_WIDTH = 60;

/** Returns the width of the help on a terminal with this number of columns; undefined: it is no terminal. */
export function helpWidth(columns: number | undefined): number {
  return columns === undefined ? WIDTH : Math.min(WIDTH, Math.max(MIN_WIDTH, columns - 1));
}

/** A term, such as a flag, and what it means. */
type Entry = readonly [term: string, meaning: string];
type Section = readonly [title: string, entries: readonly Entry[]];

/**
 * Returns the help for the command or the group of commands that `words` name; without words, the help of the program.
 * No line is wider than `width` columns, except the examples.
 */
export function helpText(
  words: readonly string[],
  commands: readonly Command[],
  width: number = WIDTH,
): string {
  if (words.length === 0) return programHelp(commands, width);
  const found = findCommand(commands, words);
  if (found !== undefined) return commandHelp(found.command, width);
  const [first = ''] = words;
  const description = `Help for one of them:\n  muster help ${first} COMMAND`;
  const section = commandSection(commandsUnder(commands, words));
  return layOut(`${first} COMMAND [flags]`, { description, sections: [section], width });
}

function programHelp(commands: readonly Command[], width: number): string {
  return layOut(
    '[flags]                 (the terminal UI)\n       muster -p [PROMPT] [flags]\n       muster COMMAND [flags]',
    {
      description: `${wrap(promptCommand.summary, width).join('\n')}\n\n${examples(promptCommand)}`,
      sections: [...flagSections(promptCommand), commandSection(commands)],
      width,
    },
  );
}

function commandHelp(command: Command, width: number): string {
  const { summary } = command;
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const description = `${wrap(sentence, width).join('\n')}\n\n${examples(command)}`;
  return layOut(`${usage(command)} [flags]`, {
    description,
    sections: flagSections(command),
    width,
  });
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

interface HelpParts {
  readonly description: string;
  readonly sections: readonly Section[];
  readonly width: number;
}

function layOut(usage: string, { description, sections, width }: HelpParts): string {
  const terms = sections.flatMap(([, entries]) => entries.map(([term]) => term.length));
  const indent = Math.max(...terms) + 4;
  const parts = sections.map(([title, entries]) => {
    const lines = entries.flatMap(([term, meaning]) =>
      wrap(meaning, width - indent).map((line, index) =>
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
