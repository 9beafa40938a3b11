import { UsageError } from '../../base/errors.ts';
import { oneLine, quoted } from '../../config/quote.ts';
import { parseAgents } from './agents-args.ts';
import type { Command, HelpTopic, RunCommand } from './command.ts';
import { checkFlags, checkOperands, unknownCommand, unknownFlag } from './command-check.ts';
import { commandSpec, commandsUnder, findCommand, RUN, type CommandKind } from './command-table.ts';
import { COMPLETED_SHELLS } from './completion-command.ts';
import { FlagReader } from './flag-reader.ts';
import { configFlags, projectFlags, runSettings } from './run-settings.ts';
import { SCHEMA_NAMES } from './schema-command.ts';
import { scanArguments, type Scan } from './scan.ts';
import { parseRunTemplate } from './run-template-args.ts';
import { parseTasks } from './tasks-args.ts';
import { parseTrust } from './trust-args.ts';
import { parseUsage } from './usage-args.ts';

/** Where there is no screen to open. */
export const NO_PROMPT = 'a run needs -p and a prompt: muster -p "…"';

/**
 * What the arguments (without the program's name) ask for. Pure: nothing is read, written or printed.
 * @throws UsageError of one line that names the argument and what is valid.
 */
export function parseArgs(argv: readonly string[]): Command {
  const scan = scanArguments(argv);
  const flags = new FlagReader(scan.flags);
  // -p announces a prompt: from there on no word is taken for a command.
  const found = flags.given('print') ? undefined : findCommand(scan.words);
  const spec = found === undefined ? RUN : commandSpec(found.kind);
  if (scan.unknown !== undefined) throw unknownFlag(spec, scan.unknown);
  if (scan.incomplete !== undefined)
    throw new UsageError(`${oneLine(scan.incomplete)} needs a value`);
  if (flags.given('help')) return { kind: 'help', topic: helpTopic(scan.words, flags) };
  checkFlags(spec, scan.flags.keys());
  if (flags.given('version')) return { kind: 'version' };
  if (found === undefined) return parseRun(scan, flags);
  if (found.kind === 'help') return { kind: 'help', topic: helpTopic(found.operands, flags) };
  checkOperands(spec, found.operands);
  return parseCommand(found.kind, found.operands, flags);
}

function parseCommand(
  kind: Exclude<CommandKind, 'help'>,
  operands: readonly string[],
  flags: FlagReader,
): Command {
  const json = flags.given('json');
  const dataDir = flags.text('data-dir');
  switch (kind) {
    case 'agents-list':
    case 'agents-show':
    case 'agents-check':
    case 'agents-explain':
    case 'agents-new':
    case 'agents-import':
      return parseAgents(kind, operands, flags);
    case 'skills-list':
    case 'skills-check':
      return { kind, json, ...projectFlags(flags), dir: flags.text('dir'), dataDir };
    case 'completion':
      return parseCompletion(operands);
    case 'schema':
      return parseSchema(operands);
    case 'sandbox':
      return parseSandbox(operands, flags);
    case 'models':
    case 'config-show':
    case 'doctor':
      return { kind, json, ...configFlags(flags, commandSpec(kind).flags), dataDir };
    case 'run-template':
      return parseRunTemplate(operands[0] ?? null, flags);
    case 'usage':
      return parseUsage(operands, flags);
    case 'trust-list':
    case 'trust-add':
    case 'trust-revoke':
      return parseTrust(kind, operands, flags);
    default:
      return parseTasks(kind, operands, flags);
  }
}

function parseSandbox([program = '', ...rest]: readonly string[], flags: FlagReader): Command {
  return {
    kind: 'sandbox',
    argv: [program, ...rest],
    cwd: flags.text('cwd'),
    addDirs: flags.texts('add-dir'),
    dataDir: flags.text('data-dir'),
    readOnly: flags.given('read-only'),
    network: flags.given('network'),
  };
}

function parseCompletion([wish = '', ...words]: readonly string[]): Command {
  const shell = COMPLETED_SHELLS.find((each) => each === wish);
  if (shell === undefined) {
    throw new UsageError(
      `no completion for ${quoted(wish)}; valid: ${COMPLETED_SHELLS.join(', ')}`,
    );
  }
  return { kind: 'completion', shell, words: words.length === 0 ? null : words };
}

function parseSchema([wish]: readonly string[]): Command {
  if (wish === undefined) return { kind: 'schema', name: null };
  const name = SCHEMA_NAMES.find((each) => each === wish);
  if (name === undefined) {
    throw new UsageError(`no schema of ${quoted(wish)}; valid: ${SCHEMA_NAMES.join(', ')}`);
  }
  return { kind: 'schema', name };
}

function parseRun(scan: Scan, flags: FlagReader): Command {
  const resume = resumeArgument(flags);
  const run = (): RunCommand => ({
    kind: 'run',
    prompt: promptOf(scan),
    resume,
    readsStdin: flags.given('print'),
    ...runSettings(flags),
  });
  if (flags.given('print')) return run();
  if (resume === null && scan.words.length > 0) throw unknownCommand(scan.words);
  // A message on the command line, or a form for its answer, is for a run without a screen.
  const isHeadless = (['output-format', 'output-schema', 'verbose'] as const).some((name) =>
    flags.given(name),
  );
  if (scan.words.length > 0 || (isHeadless && resume !== null)) return run();
  if (isHeadless) throw new UsageError(NO_PROMPT);
  return { kind: 'interactive', run: run(), hasFlags: scan.flags.size > 0 };
}

function resumeArgument(flags: FlagReader): RunCommand['resume'] {
  const id = flags.text('resume');
  const newest = flags.given('continue');
  if (id === null && !newest) return null;
  if (id !== null && newest) {
    throw new UsageError('--continue and --resume name two conversations; give one of them');
  }
  if (flags.given('agent')) {
    throw new UsageError('--agent does not go with a conversation that has its agent already');
  }
  if (flags.given('output-schema')) {
    throw new UsageError(
      '--output-schema does not go with a conversation that has begun without it',
    );
  }
  if (flags.given('no-log')) {
    throw new UsageError('--no-log does not go with a conversation that is in the logs');
  }
  return id === null || id === 'last' ? 'newest' : { id };
}

function promptOf(scan: Scan): string | null {
  const printed = (scan.flags.get('print') ?? []).filter((text) => text !== null);
  const [prompt, second] = [...printed, ...scan.words];
  if (prompt === undefined) return null;
  if (second !== undefined) {
    throw new UsageError(
      `more than one prompt (${quoted(prompt)} and ${quoted(second)}); put quotes around the whole of it`,
    );
  }
  if (prompt.trim() === '') throw new UsageError('the prompt is empty');
  return prompt;
}

/** Help for the command, or the commands, that the words begin. */
function helpTopic(words: readonly string[], flags: FlagReader): HelpTopic {
  if (words.length === 0 || flags.given('print')) return 'program';
  const found = findCommand(words);
  if (found !== undefined) return [found.kind];
  const under = commandsUnder(words);
  if (under.length === 0) throw unknownCommand(words);
  return under;
}
