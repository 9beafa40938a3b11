import { forEachChild, parse } from 'unbash';
import type { Command, ParameterExpansionPart, Script, SyntaxNode } from 'unbash';
import { errorMessage } from '../../base/errors.ts';
import type { ParsedShellLine, ShellRedirect, ShellTest } from './parsed-line.ts';
import type { ShellWord, SimpleCommand } from './parsed-line.ts';
import { toShellRedirect } from './redirects.ts';
import { hasHiddenSyntax, toShellWord, createUnknownWord } from './words.ts';

const MAX_LINE = 16_384;
const MAX_COMMANDS = 200;
/** With thousands of them inside of each other, reading a line takes longer than a decision may. */
const MAX_SUBSTITUTIONS = 200;
const SUBSTITUTION = /[$<>]\(|\$[{[]|`|\(\(|<</g;

/** Bash takes it out before it looks what `$` and the like stand for, and unbash does so after. */
const LINE_GOES_ON_IN_WORD = /\S\\\n/;

/** Characters that a person doesn't see, or sees as something else. */
const DECEPTIVE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- finding them is the purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/;

interface MutableReading {
  readonly commands: SimpleCommand[];
  readonly redirects: ShellRedirect[];
  readonly tests: ShellTest[];
  readonly errors: string[];
  readonly doubts: Set<string>;
}

/** Reads a line with unbash. It is a tolerant parser: any error of it, nested ones too, is one here. */
export function parseShellLine(line: string): ParsedShellLine {
  if (line.length > MAX_LINE) return unreadable(`it is longer than ${MAX_LINE} characters`);
  if (line.includes('\0')) return unreadable('it holds a NUL character');
  if ((line.match(SUBSTITUTION)?.length ?? 0) > MAX_SUBSTITUTIONS) {
    return unreadable(`it has more than ${MAX_SUBSTITUTIONS} substitutions`);
  }
  if (LINE_GOES_ON_IN_WORD.test(line)) return unreadable('a line of it goes on inside of a word');
  const reading: MutableReading = {
    commands: [],
    redirects: [],
    tests: [],
    errors: [],
    doubts: new Set(),
  };
  if (DECEPTIVE.test(line) || !line.isWellFormed()) {
    reading.doubts.add('it holds invisible or deceptive characters');
  }
  let directory: ShellWord | null = null;
  try {
    const script = parse(line);
    directory = directoryOf(script);
    visit(script, reading);
  } catch (thrown) {
    // Nesting deeper than the stack: what a parser can't read is an error like any other.
    reading.errors.push(errorMessage(thrown));
  }
  if (reading.commands.length > MAX_COMMANDS) {
    reading.errors.push(`it has more than ${MAX_COMMANDS} commands`);
  }
  return { ...reading, directory, doubts: [...reading.doubts] };
}

function unreadable(error: string): ParsedShellLine {
  return { commands: [], redirects: [], tests: [], directory: null, errors: [error], doubts: [] };
}

function visit(node: SyntaxNode, reading: MutableReading): void {
  collect(node, reading);
  const doubt = doubtAbout(node);
  if (doubt !== undefined) reading.doubts.add(doubt);
  forEachChild(node, (child) => visit(child, reading));
}

function collect(node: SyntaxNode, reading: MutableReading): void {
  switch (node.type) {
    case 'Script':
      for (const error of node.errors ?? []) reading.errors.push(error.message);
      return;
    case 'Word':
      if (hasHiddenSyntax(node)) reading.errors.push('it has syntax inside of a word');
      return;
    case 'Command':
      if (hasTouchingWords(node)) reading.errors.push('it has words without a blank between them');
      reading.commands.push(simpleCommand(node));
      return;
    case 'Redirect':
    case 'HereString':
    case 'HereDoc':
      reading.redirects.push(toShellRedirect(node));
      return;
    case 'TestUnary':
      reading.tests.push({ operator: node.operator, operands: [toShellWord(node.operand)] });
      return;
    case 'TestBinary': {
      const operands = [toShellWord(node.left), toShellWord(node.right)];
      reading.tests.push({ operator: node.operator, operands });
      return;
    }
    default:
  }
}

function simpleCommand(command: Command): SimpleCommand {
  const words: ShellWord[] = command.name === undefined ? [] : [toShellWord(command.name)];
  for (const argument of command.args) {
    words.push(argument.type === 'Word' ? toShellWord(argument) : createUnknownWord(argument.text));
  }
  const hasAssignments = command.prefix.some((each) => each.type === 'Assignment');
  return { words, hasAssignments, isOpenEnded: false };
}

/** `a<(b)` is one word to bash, and two to unbash. */
function hasTouchingWords({ name, args }: Command): boolean {
  const words = name === undefined ? args : [name, ...args];
  return words.some((word, index) => word.pos === words[index - 1]?.end);
}

/** See `ShellReading.directory`: every later command runs only after the cd has worked. */
function directoryOf(script: Script): ShellWord | null {
  const [only, ...others] = script.commands;
  if (only?.command.type !== 'AndOr' || others.length > 0 || only.background === true) return null;
  const { commands, operators } = only.command;
  const first = commands[0];
  if (first?.type !== 'Command' || first.name === undefined) return null;
  if (operators.some((operator) => operator !== '&&')) return null;
  const isPlain = first.prefix.length === 0 && first.suffix.length === 1;
  const operand = first.args[0];
  if (!isPlain || operand?.type !== 'Word' || toShellWord(first.name).value !== 'cd') return null;
  return toShellWord(operand);
}

/** Nodes that only put commands together, or are judged with the command they belong to. */
const PLAIN: ReadonlySet<string> = new Set(
  [
    'Script Statement CompoundList Pipeline Time Negation AndOr Subshell BraceGroup If Elif While',
    'Command Word Literal SingleQuoted DoubleQuoted AnsiCQuoted Glob ExtendedGlob BraceExpansion',
    'SimpleExpansion CommandExpansion ProcessSubstitution Default Remove Replace CaseModification',
    'Redirect HereString HereDoc HereDocDelimiter HereDocBody FileDescriptor Redirected',
    'TestCommand TestUnary TestBinary TestLogical TestNot TestGroup',
  ].flatMap((types) => types.split(' ')),
);

function doubtAbout(node: SyntaxNode): string | undefined {
  if (PLAIN.has(node.type)) return undefined;
  switch (node.type) {
    case 'ParameterExpansion':
      return isPlainExpansion(node) ? undefined : 'it uses an expansion that can run or set things';
    case 'Assignment':
      return 'it sets a variable';
    case 'FileDescriptorVariable':
      return 'it keeps a descriptor in a variable';
    case 'Function':
      return 'it defines a function';
    default:
      return `it uses shell syntax that no rule can vouch for (${node.type})`;
  }
}

/** Subscripts and slices are arithmetic, which can run commands; `=`, `@` and `!` set or evaluate. */
function isPlainExpansion({ prefix, index, operation }: ParameterExpansionPart): boolean {
  if (prefix === '!' || index !== undefined) return false;
  switch (operation?.type) {
    case undefined:
    case 'Remove':
    case 'Replace':
    case 'CaseModification':
      return true;
    case 'Default':
      return !operation.operator.endsWith('=');
    default:
      return false;
  }
}
