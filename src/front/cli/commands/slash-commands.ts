import { loadDefinitions, type CommandListings } from '../../../api/index.ts';
import { UsageError } from '../../../base/errors.ts';
import { suggestNames } from '../../../base/name-suggestions.ts';
import { collapseWhitespace, truncate } from '../../../base/text.ts';
import { defineReportCommand } from '../command.ts';
import { PROJECT_FLAGS } from '../run-options.ts';
import { agentsLocation, agentsOptions } from './agents/location.ts';

/** The maximum length of a description in a list for people, in code points. */
const SHOWN_DESCRIPTION = 160;

type CommandListing = CommandListings['commands'][number];

/** `muster commands list` */
export const commandsListCommand = defineReportCommand({
  words: 'commands list',
  summary: 'which slash commands there are, where each comes from and what it does',
  operands: [],
  flags: ['json', ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster commands list', 'muster commands list --json'],
  parse: ({ flags }) => agentsOptions(flags),
  run: async (options, context) => {
    const { listCommandsIn } = await loadDefinitions();
    const listings = await listCommandsIn(agentsLocation(options, context));
    return { json: listings, text: describeListings(listings) };
  },
});

/** `muster commands show NAME` */
export const commandsShowCommand = defineReportCommand({
  words: 'commands show',
  summary: 'one slash command: its file, its shell parts, what has no effect',
  operands: [{ name: 'NAME' }],
  flags: ['json', ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster commands show review', 'muster commands show git:commit --json'],
  parse: ({ flags, operands: [name = ''] }) => ({ ...agentsOptions(flags), name }),
  run: async (options, context) => {
    const { listCommandsIn } = await loadDefinitions();
    const { commands } = await listCommandsIn(agentsLocation(options, context));
    const wanted = options.name.replace(/^\//, '').replaceAll('/', ':').toLowerCase();
    const found = commands.filter(({ name }) => name.toLowerCase() === wanted);
    const [first] = found;
    if (first === undefined) throw unknownCommand(options.name, commands);
    return { json: first, text: found.map(describeListing).join('') };
  },
});

function unknownCommand(name: string, commands: readonly CommandListing[]): UsageError {
  const near = suggestNames(
    name,
    commands.map((each) => each.name),
  );
  const hint =
    near.length === 0 ? 'muster commands list lists them' : `similar: ${near.join(', ')}`;
  return new UsageError(`there is no slash command ${name}: ${hint}`);
}

function describeListings({ commands, skipped, problems }: CommandListings): string {
  if (commands.length === 0 && skipped.length === 0) {
    return 'No file defines a slash command here. Skills are listed by `muster skills list`.\n';
  }
  const broken = new Set(problems.map(({ path }) => path));
  const skippedLines = skipped
    .filter(({ path }) => !broken.has(path))
    .map(({ path, reason }) => `skipped ${path}: ${reason}\n`);
  const problemLines = problems.map(({ path, line, message }) => {
    return `broken ${line === undefined ? path : `${path}:${line}`}: ${message}\n`;
  });
  return [...commands.map(describeListing), ...problemLines, ...skippedLines].join('');
}

function describeListing(command: CommandListing): string {
  const { name, argumentHint, shadowedBy, description, path, source, agent, shell } = command;
  const { shellRules, turnRules, model, shadows, hidden, withoutEffect, warnings } = command;
  const state = shadowedBy === null ? '' : `  [shadowed by ${shadowedBy}]`;
  const text = collapseWhitespace(description);
  const short = truncate(text, SHOWN_DESCRIPTION);
  const lines = [
    `/${name}${argumentHint === null ? '' : ` ${argumentHint}`}${state}`,
    `  ${short}${short.length < text.length ? '…' : ''}`,
    `  ${[path, source, ...(agent === null ? [] : [`a task of type ${agent}`])].join(' · ')}`,
    ...shell.map((line) => `  shell: ${collapseWhitespace(line)}`),
    ...shellRules.map((rule) => `  its shell parts may run: ${rule}`),
    ...(model === null ? [] : [`  model until your next message: ${model}`]),
    ...turnRules.map((rule) => `  allowed until your next message: ${rule}`),
    ...shadows.map((shadowed) => `  in the place of ${shadowed}`),
    ...(hidden === null ? [] : [`  hidden: ${hidden}`]),
    ...withoutEffect.map((field) => `  no effect: ${field}`),
    ...warnings.map(
      ({ message, line }) => `  ! ${line === undefined ? '' : `line ${line}: `}${message}`,
    ),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
