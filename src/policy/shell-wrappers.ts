import { optionLength, optionTable } from './options/option-table.ts';
import type { ShellParser, ShellWord, SimpleCommand } from './shell-parser.ts';

/** A program that runs the command in its arguments. */
interface Wrapper {
  /** Its own options before the command, as `optionTable` spells them. */
  readonly options: string;
  /** Words of its own between the options and the command. */
  readonly operands?: number;
  /** Whether it adds words that the line doesn't show. */
  readonly openEnded?: boolean;
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ['builtin', { options: '' }],
  ['busybox', { options: '' }],
  ['command', { options: '-p' }],
  ['exec', { options: '-cl -a=' }],
  [
    'env',
    {
      options: '-i0v -u= -C= -a= --ignore-environment --null --debug --unset= --chdir= --argv0=',
    },
  ],
  ['ionice', { options: '-t -c= -n= --ignore --class= --classdata=' }],
  ['nice', { options: '-# -n= --adjustment=' }],
  ['nohup', { options: '' }],
  ['setsid', { options: '-cfw --ctty --fork --wait' }],
  ['stdbuf', { options: '-i= -o= -e= --input= --output= --error=' }],
  ['time', { options: '-pvaq -f= -o= --format= --output=' }],
  [
    'timeout',
    {
      options: '-fpv -k= -s= --foreground --preserve-status --verbose --kill-after= --signal=',
      operands: 1,
    },
  ],
  [
    'sudo',
    {
      options:
        '-AbEHKknPS -C= -D= -g= -h= -p= -r= -R= -t= -T= -U= -u= --non-interactive --preserve-env[=] --set-home --stdin --user= --group= --host= --chdir= --prompt=',
    },
  ],
  ['doas', { options: '-nLs -a= -C= -u=' }],
  [
    'xargs',
    {
      options:
        '-0oprtx -a= -d= -E= -I= -L= -n= -P= -s= --null --no-run-if-empty --verbose --interactive --exit --arg-file= --delimiter= --max-args= --max-lines= --max-procs= --replace[=]',
      openEnded: true,
    },
  ],
]);

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash']);
const MAX_INNER = 500;

/** What a command may run besides itself. */
export interface InnerCommands {
  readonly commands: readonly SimpleCommand[];
  /** Whether it may run something that the line doesn't show. */
  readonly unsure: boolean;
}

const NONE: InnerCommands = { commands: [], unsure: false };
const UNKNOWN: InnerCommands = { commands: [], unsure: true };

/** The last part of a program's path. */
export function programName(value: string): string {
  return value.slice(value.lastIndexOf('/') + 1);
}

/**
 * Every command that this one would run in turn: behind wrappers, in `bash -c`, eval, trap, find -exec.
 * Past a number that no honest line reaches, the rest is unknown.
 */
export function innerCommands(command: SimpleCommand, parser: ShellParser): InnerCommands {
  const commands: SimpleCommand[] = [];
  const waiting = [command];
  let unsure = false;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [program, ...rest] = next.words;
    if (program === undefined) continue;
    if (program.value === null || commands.length > MAX_INNER) return { commands, unsure: true };
    const direct = runBy(programName(program.value), rest, parser);
    commands.push(...direct.commands);
    waiting.push(...direct.commands);
    unsure ||= direct.unsure;
  }
  return { commands, unsure };
}

function runBy(name: string, words: readonly ShellWord[], parser: ShellParser): InnerCommands {
  if (SHELLS.has(name)) return shellScript(words, parser);
  if (name === 'eval') return script(words, parser);
  if (name === 'trap') return script(words.slice(0, 1), parser);
  if (name === 'find') return { commands: findActions(words), unsure: false };
  if (name === 'env' && words.some(isSplitString)) return UNKNOWN;
  const wrapper = WRAPPERS.get(name);
  return wrapper === undefined ? NONE : { commands: wrapped(wrapper, words), unsure: false };
}

/** `bash -c SCRIPT`; without it a script file, which is not looked into, or whatever comes on stdin. */
function shellScript(words: readonly ShellWord[], parser: ShellParser): InnerCommands {
  let isScript = false;
  let at = 0;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (word.value === null) return UNKNOWN;
    if (!/^[-+]./.test(word.value)) break;
    if (/^-[A-Za-z]*c/.test(word.value)) isScript = true;
    else if (/^-[A-Za-z]*s/.test(word.value)) return UNKNOWN;
    const takesValue = /^[-+][A-Za-z]*[oO]$|^--(?:rcfile|init-file)$/.test(word.value);
    at += takesValue ? 2 : 1;
  }
  const operand = words[at];
  if (operand === undefined) return UNKNOWN;
  return isScript ? script([operand], parser) : NONE;
}

function script(words: readonly ShellWord[], parser: ShellParser): InnerCommands {
  if (words.some((word) => word.value === null)) return UNKNOWN;
  const { commands, errors } = parser(words.map((word) => word.value).join(' '));
  return { commands, unsure: errors.length > 0 };
}

/** `env -S` takes a whole command line as one word, in a syntax of its own. */
function isSplitString({ value }: ShellWord): boolean {
  return value !== null && /^(?:-[A-Za-z0]*S|--split-string)/.test(value);
}

function findActions(words: readonly ShellWord[]): readonly SimpleCommand[] {
  return words.flatMap((word, index) =>
    /^-(?:exec|ok)(?:dir)?$/.test(word.value ?? '') ? [inner(words.slice(index + 1), true)] : [],
  );
}

function inner(words: readonly ShellWord[], openEnded: boolean): SimpleCommand {
  return { words, assigns: false, openEnded };
}

/** The wrapped command; every one that it could be when an option is not known. */
function wrapped(wrapper: Wrapper, words: readonly ShellWord[]): readonly SimpleCommand[] {
  const openEnded = wrapper.openEnded ?? false;
  const start = commandStart(wrapper, words);
  if (start !== undefined)
    return start < words.length ? [inner(words.slice(start), openEnded)] : [];
  return words.map((_, index) => inner(words.slice(index), openEnded));
}

/** Where the command starts; undefined when that can't be told. */
function commandStart(wrapper: Wrapper, words: readonly ShellWord[]): number | undefined {
  const table = optionTable(wrapper.options);
  let at = 0;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (word.value === null) return undefined;
    if (word.value === '--') {
      at += 1;
      break;
    }
    const taken = optionLength(word.value, table);
    if (taken === undefined) return undefined;
    if (taken === 0) break;
    at += taken;
  }
  at += wrapper.operands ?? 0;
  while (isAssignment(words[at])) at += 1;
  return at;
}

function isAssignment(word: ShellWord | undefined): boolean {
  return word !== undefined && /^[A-Za-z_]\w*=/.test(word.value ?? word.text);
}
