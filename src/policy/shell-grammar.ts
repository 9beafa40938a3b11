import { forEachChild, parse } from 'unbash';
import type { Command, ParameterExpansionPart, Redirect, SyntaxNode, Word, WordPart } from 'unbash';
import { errorMessage } from '../base/errors.ts';
import type { ShellReading, ShellWord, SimpleCommand } from './shell-parser.ts';

const MAX_LINE = 16_384;
const MAX_COMMANDS = 200;

/** Characters that a person doesn't see, or sees as something else. */
const DECEPTIVE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- finding them is the purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/;

interface MutableReading {
  readonly commands: SimpleCommand[];
  readonly errors: string[];
  readonly doubts: Set<string>;
}

/** Reads a line with unbash. It is a tolerant parser: any error of it, nested ones too, is one here. */
export function readShell(line: string): ShellReading {
  if (line.length > MAX_LINE) return unreadable(`it is longer than ${MAX_LINE} characters`);
  if (line.includes('\0')) return unreadable('it holds a NUL character');
  const reading: MutableReading = { commands: [], errors: [], doubts: new Set() };
  if (DECEPTIVE.test(line) || !line.isWellFormed()) {
    reading.doubts.add('it holds invisible or deceptive characters');
  }
  try {
    visit(parse(line), reading);
  } catch (thrown) {
    // Nesting deeper than the stack: what a parser can't read is an error like any other.
    reading.errors.push(errorMessage(thrown));
  }
  if (reading.commands.length > MAX_COMMANDS) {
    reading.errors.push(`it has more than ${MAX_COMMANDS} commands`);
  }
  return { ...reading, doubts: [...reading.doubts] };
}

function unreadable(error: string): ShellReading {
  return { commands: [], errors: [error], doubts: [] };
}

function visit(node: SyntaxNode, reading: MutableReading): void {
  if (node.type === 'Script') {
    for (const error of node.errors ?? []) reading.errors.push(error.message);
  }
  if (node.type === 'Command') reading.commands.push(simpleCommand(node));
  const doubt = doubtAbout(node);
  if (doubt !== undefined) reading.doubts.add(doubt);
  forEachChild(node, (child) => visit(child, reading));
}

function simpleCommand(command: Command): SimpleCommand {
  const words: ShellWord[] = command.name === undefined ? [] : [shellWord(command.name)];
  for (const argument of command.args) {
    words.push(
      argument.type === 'Word' ? shellWord(argument) : { text: argument.text, value: null },
    );
  }
  const assigns = command.prefix.some((each) => each.type === 'Assignment');
  return { words, assigns, openEnded: false };
}

function shellWord(word: Word): ShellWord {
  const isLiteral = !word.text.startsWith('~') && (word.parts ?? []).every(isLiteralPart);
  return { text: word.text, value: isLiteral ? word.value : null };
}

function isLiteralPart(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return true;
    case 'DoubleQuoted':
      return part.parts.every(isLiteralPart);
    default:
      return false;
  }
}

/** Nodes that only put commands together, or are judged with the command they belong to. */
const PLAIN: ReadonlySet<string> = new Set(
  [
    'Script Statement CompoundList Pipeline Time Negation AndOr Subshell BraceGroup If Elif While',
    'Command Word Literal SingleQuoted DoubleQuoted AnsiCQuoted Glob ExtendedGlob BraceExpansion',
    'SimpleExpansion CommandExpansion ProcessSubstitution Default Remove Replace CaseModification',
    'HereString HereDoc HereDocDelimiter HereDocBody FileDescriptor',
  ].flatMap((types) => types.split(' ')),
);

function doubtAbout(node: SyntaxNode): string | undefined {
  if (PLAIN.has(node.type)) return undefined;
  switch (node.type) {
    case 'Redirect':
      return redirectsToFile(node) ? 'it redirects to or from a file' : undefined;
    case 'ParameterExpansion':
      return isPlainExpansion(node) ? undefined : 'it uses an expansion that can run or set things';
    case 'Assignment':
      return 'it sets a variable';
    case 'Function':
      return 'it defines a function';
    default:
      return `it uses shell syntax that no rule can vouch for (${node.type})`;
  }
}

function redirectsToFile({ operator, descriptor, target }: Redirect): boolean {
  if (descriptor?.type === 'FileDescriptorVariable' || target === undefined) return true;
  const { value } = shellWord(target);
  if (value === '/dev/null') return false;
  const duplicates = operator === '>&' || operator === '<&';
  return !(duplicates && value !== null && /^(?:\d+-?|-)$/.test(value));
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
