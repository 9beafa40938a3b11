import { UsageError } from '../../base/errors.ts';
import { nearestFirst, nearNames } from '../../base/near-names.ts';
import { oneLine, quoted } from '../../config/quote.ts';
import { COMMAND_KINDS, commandSpec, commandsUnder } from './command-table.ts';
import type { CommandSpec } from './command-spec.ts';
import { isFlagName, type FlagName } from './flags.ts';

/** Throws unless every flag belongs to the command. */
export function checkFlags(spec: CommandSpec, given: Iterable<FlagName>): void {
  for (const name of given) {
    if (!spec.flags.includes(name)) {
      throw new UsageError(
        `--${name} does not go with ${titleOf(spec)}; ${validFlags(spec, name)}`,
      );
    }
  }
}

/** Throws unless there are as many operands as the command takes. */
export function checkOperands(spec: CommandSpec, operands: readonly string[]): void {
  const required = spec.operands.filter((operand) => !operand.startsWith('['));
  if (operands.length < required.length) {
    throw new UsageError(
      `${titleOf(spec)} needs ${required[operands.length] ?? ''}: muster ${spec.words} ${spec.operands.join(' ')}`,
    );
  }
  const extra = operands[spec.operands.length];
  if (extra !== undefined && !/…\]?$/.test(spec.operands.at(-1) ?? '')) {
    throw new UsageError(`${titleOf(spec)} does not take ${quoted(extra)}; see ${helpOf(spec)}`);
  }
}

export function unknownFlag(spec: CommandSpec, argument: string): UsageError {
  if (/\s/.test(argument)) {
    return new UsageError(
      `${quoted(argument)} is taken for a flag; a prompt that begins with a dash goes after --: muster -p -- "- …"`,
    );
  }
  const flag = argument.split('=', 1)[0] ?? argument;
  if (flag !== argument && flag.startsWith('--') && isFlagName(flag.slice(2))) {
    return new UsageError(`${flag} takes no value`);
  }
  return new UsageError(`unknown flag ${oneLine(flag)}; ${validFlags(spec, flag)}`);
}

/** For words that begin no command, where no prompt was announced by -p. */
export function unknownCommand(words: readonly string[]): UsageError {
  const under = commandsUnder(words.slice(0, 1));
  const named = words.join(' ');
  const commands = (under.length > 0 ? under : COMMAND_KINDS).map(
    (kind) => commandSpec(kind).words,
  );
  if (under.length > 0) {
    const problem = words.length === 1 ? 'is not a command by itself' : 'is not a command';
    const [first = '', ...rest] = words;
    const [near] = nearNames(
      rest.join(' '),
      commands.map((each) => each.slice(first.length + 1)),
    );
    const meant = near === undefined || rest.length === 0 ? '' : `; did you mean ${first} ${near}?`;
    return new UsageError(
      `${quoted(named)} ${problem}${meant === '' ? ';' : meant} valid: ${commands.join(', ')}`,
    );
  }
  const valid = nearestFirst(named, commands).join(', ');
  return new UsageError(
    `unknown command ${quoted(named)}; valid: ${valid}. A prompt needs -p: muster -p ${quoted(named)}`,
  );
}

function validFlags(spec: CommandSpec, name: string): string {
  const flags = nearestFirst(
    name.startsWith('--') ? name : `--${name}`,
    spec.flags.map((flag) => `--${flag}`),
  );
  return `valid, nearest first: ${flags.join(', ')}`;
}

function titleOf(spec: CommandSpec): string {
  return spec.words === '' ? 'muster -p' : `muster ${spec.words}`;
}

function helpOf(spec: CommandSpec): string {
  return spec.words === '' ? 'muster --help' : `muster ${spec.words} --help`;
}
