import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import { commandFlags } from '../../../src/front/cli/command.ts';
import { CLI_COMMANDS } from '../../../src/front/cli/commands.ts';
import {
  FLAG_NAMES,
  flagSpec,
  flagValues,
  type FlagName,
  type FlagSpec,
} from '../../../src/front/cli/flags.ts';
import { flagSyntax } from '../../../src/front/cli/help.ts';
import { promptCommand } from '../../../src/front/cli/commands/prompt.ts';
import { parseCommandLine } from '../../../src/front/cli/parse.ts';
import { exitCode, SIGNAL_EXIT_CODES } from '../../../src/front/headless/run-to-end.ts';
import { TASK_STATUSES } from '../../../src/protocol/result.ts';
import type { PromptOptions } from '../../../src/front/cli/run-options.ts';

const GOLDEN = join(import.meta.dirname, 'golden/commands.json');

/** Every command with the words that start it; the empty words start a conversation or a run. */
function commands() {
  return [promptCommand, ...CLI_COMMANDS].map((command) => ({
    words: command.words,
    operands: command.operands.map(({ name, completes = {} }) => ({ name, completes })),
    examples: command.examples,
    flags: commandFlags(command).map((name) => {
      const spec = { ...flagSpec(name), ...command.flagDetails?.[name] };
      return { name, details: flagDetails(name, spec), completes: flagValues(spec) ?? null };
    }),
  }));
}

const loadCommands = () => Promise.resolve(CLI_COMMANDS);

function flagDetails(name: FlagName, spec: FlagSpec) {
  const { group, configKey } = spec;
  return { syntax: flagSyntax(name, spec), group, setsConfig: configKey ?? null };
}

/** The command that a command line starts, and its options. */
async function parsed(
  argv: readonly string[],
): Promise<{ readonly command: string; readonly options: unknown }> {
  const line = await parseCommandLine(argv, loadCommands);
  if (line === 'version') return { command: 'version', options: {} };
  const { words } = line.command;
  const { options } = line;
  if (words !== '') return { command: words, options };
  const isInteractive = (options as PromptOptions).isInteractive;
  const command = isInteractive ? 'the terminal UI' : 'a run without a screen';
  return { command, options: (options as PromptOptions).run };
}

async function outcome(argv: readonly string[]): Promise<string> {
  try {
    const { command } = await parsed(argv);
    return `starts ${command}`;
  } catch (error) {
    if (error instanceof UsageError) return 'is refused';
    throw error;
  }
}

/** The shortest complete command line of each command that needs more than its words. */
const SHORTEST: Readonly<Record<string, readonly string[]>> = {
  '': ['-p', 'TEXT'],
  'agents show': ['NAME'],
  'agents explain': ['NAME'],
  'commands show': ['NAME'],
  'tasks branch': ['ID', '--at', '1'],
  'tasks rewind': ['ID', '--to', '1'],
  'tasks import': ['FILE'],
  'hooks test': ['--replay', 'ID'],
  'tasks list': [],
  'tasks watch': [],
  'tasks prune': [],
  'tasks answer': ['ID', 'yes'],
  'config set': ['terminal.detail', 'short'],
  'config unset': ['terminal.detail'],
  'mcp get': ['NAME'],
  'mcp add': ['NAME', 'https://example.org/mcp'],
  'mcp add-json': ['NAME', '{}'],
  'mcp remove': ['NAME'],
  'mcp test': ['NAME'],
  'mcp accept': ['NAME'],
  'mcp login': ['NAME'],
  'mcp logout': ['NAME'],
  'plugin install': ['SOURCE'],
  'plugin show': ['NAME'],
  'plugin enable': ['NAME'],
  'plugin disable': ['NAME'],
  'plugin update': ['NAME'],
  'plugin remove': ['NAME'],
  'plugin marketplace add': ['SOURCE'],
  'plugin marketplace update': ['NAME'],
  'plugin marketplace remove': ['NAME'],
  run: ['TEMPLATE', '--items', 'FILE'],
  'trust revoke': ['NAME'],
  sandbox: ['COMMAND'],
  completion: ['bash'],
};

function shortestLine(words: string): readonly string[] {
  const own = words === '' ? [] : words.split(' ');
  return [...own, ...(SHORTEST[words] ?? (words.startsWith('tasks ') ? ['ID'] : []))];
}

/** Why a flag refuses a value, without the value; null where it accepts it or another rule decides. */
async function refusal(words: string, name: FlagName, value: string): Promise<string | null> {
  try {
    await parsed([...shortestLine(words), `--${name}=${value}`]);
    return null;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { message } = error;
    const isAboutValue = message.startsWith(`--${name} must be`);
    return isAboutValue ? message.replace(`, not ${JSON.stringify(value)}`, '') : null;
  }
}

/** Flags that do not mean the same before, between and after the words of a command. */
async function boundFlags(): Promise<readonly string[]> {
  const bound: string[] = [];
  for (const { words, flags } of commands()) {
    const line = shortestLine(words);
    for (const { name } of flags) {
      if (name === 'print' || name === 'help' || name === 'version') continue;
      const given = flagSpec(name).value === undefined ? [`--${name}`] : [`--${name}`, '1'];
      const lines = [
        [...line, ...given],
        [...given, ...line],
        [...line.slice(0, 1), ...given, ...line.slice(1)],
        ...(given.length === 2 ? [[...line, given.join('=')]] : []),
      ];
      // The value of `-p` follows it at once.
      const usable = words === '' ? lines.filter((_, index) => index !== 2) : lines;
      const found = await Promise.all(
        usable.map(async (argv) => {
          try {
            return JSON.stringify(await parsed(argv));
          } catch (error) {
            return error instanceof UsageError ? 'refused' : 'failed';
          }
        }),
      );
      if (new Set(found).size !== 1) bound.push(`${words} --${name}`);
    }
  }
  return bound;
}

const POSITION_LINES = [
  '',
  'TEXT',
  '-p TEXT',
  'TEXT -p',
  '-pTEXT',
  '-p doctor',
  'doctor -p',
  '-p TEXT TEXT',
  '-p -- --model',
  '--continue',
  '-c TEXT',
  '-cp TEXT',
  '-hv',
  '--resume',
  '--output-format json',
  '--verbose=1',
  'tasks',
  'tasks list -- --json',
  'tasks list TEXT',
  'tasks show',
  'sandbox ls -l',
  'sandbox -- ls -l',
  'help',
  'help tasks',
  'help tasks show',
  'help nonsense',
  'tasks --help',
  'tasks list --help --nonsense',
  '--version',
  '--version tasks list',
];

function exitCodeOfProgram(...argv: readonly string[]): number | null {
  const bin = join(import.meta.dirname, '../../../src/front/cli/bin.ts');
  return spawnSync(process.execPath, [bin, ...argv], { stdio: 'ignore' }).status;
}

async function surface() {
  const all = commands();
  const flags: Record<string, unknown> = {};
  for (const name of FLAG_NAMES) {
    const details = flagDetails(name, flagSpec(name));
    flags[name] = { ...details, completes: flagValues(flagSpec(name)) ?? null };
  }
  const described: Record<string, unknown> = {};
  for (const { words, operands, examples, flags: own } of all) {
    const accepted: Record<string, object> = {};
    for (const { name, details, completes } of own) {
      const differing = Object.entries({ ...details, completes }).filter(
        ([key, value]) =>
          JSON.stringify(value) !== JSON.stringify((flags[name] as Record<string, unknown>)[key]),
      );
      const refusals: Record<string, string> = {};
      if (details.syntax.includes('<')) {
        for (const value of ['nonsense', '-1', '0', '1', '1.5']) {
          const why = await refusal(words, name, value);
          if (why !== null) refusals[value] = why;
        }
      }
      accepted[name] = {
        ...Object.fromEntries(differing),
        ...(Object.keys(refusals).length === 0 ? {} : { refuses: refusals }),
      };
    }
    const { options } = await parsed(shortestLine(words));
    described[words] = {
      operands,
      examples,
      shortest: shortestLine(words).join(' '),
      defaults: options,
      flags: accepted,
    };
  }
  const positions: Record<string, string> = {};
  for (const line of POSITION_LINES)
    positions[line] = await outcome(line === '' ? [] : line.split(' '));
  return {
    flags,
    commands: described,
    flagsBoundToAPosition: await boundFlags(),
    positions,
    exitCodes: {
      ...Object.fromEntries(TASK_STATUSES.map((status) => [status, exitCode(status)])),
      ...SIGNAL_EXIT_CODES,
      'wrong argument': exitCodeOfProgram('tasks', 'lst'),
      help: exitCodeOfProgram('--help'),
      version: exitCodeOfProgram('--version'),
    },
  };
}

it('the command line accepts and completes what the golden list says', async () => {
  const text = `${JSON.stringify(await surface(), null, 2)}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, text);
  expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(GOLDEN, 'utf8')));
});
