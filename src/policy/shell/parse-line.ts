import { forEachChild, parse } from 'unbash';
import type {
  Command,
  HereDoc,
  HereString,
  ParameterExpansionPart,
  Redirect,
  Script,
  SyntaxNode,
  Word,
  WordPart,
} from 'unbash';
import { errorMessage } from '../../base/errors.ts';
import { addInput } from './parsed-line.ts';
import type {
  FedInput,
  ParsedShellLine,
  ShellRedirect,
  ShellTest,
  ShellWord,
  SimpleCommand,
  WordForm,
} from './parsed-line.ts';

const MAX_LINE_LENGTH = 16_384;
const MAX_COMMANDS = 200;
/** The maximum number of substitutions, because parsing thousands of nested substitutions would slow decisions down. */
const MAX_SUBSTITUTIONS = 200;
const SUBSTITUTION = /[$<>]\(|\$[{[]|`|\(\(|<</g;

/**
 * Matches a continued line inside a word. Bash joins the lines before it parses `$` and similar syntax, unbash
 * afterwards.
 */
const LINE_CONTINUED_IN_WORD = /\S\\\n/;

/** Matches characters that are invisible or look like other characters. */
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

/**
 * Parses a command line with unbash. That parser continues after errors, so every error that it reports at any depth
 * counts.
 */
export function parseShellLine(line: string): ParsedShellLine {
  if (line.length > MAX_LINE_LENGTH)
    return createUnreadableLine(`it is longer than ${MAX_LINE_LENGTH} characters`);
  if (line.includes('\0')) return createUnreadableLine('it holds a NUL character');
  if ((line.match(SUBSTITUTION)?.length ?? 0) > MAX_SUBSTITUTIONS) {
    return createUnreadableLine(`it has more than ${MAX_SUBSTITUTIONS} substitutions`);
  }
  if (LINE_CONTINUED_IN_WORD.test(line))
    return createUnreadableLine('a line of it goes on inside of a word');
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
    directory = findDirectory(script);
    visit(script, reading, { isPiped: false });
  } catch (thrown) {
    // Deep nesting overflows the stack. This is handled like a syntax error.
    reading.errors.push(errorMessage(thrown));
  }
  if (reading.commands.length > MAX_COMMANDS) {
    reading.errors.push(`it has more than ${MAX_COMMANDS} commands`);
  }
  // A text could reach any command of the line, for example by `exec` or by a block around the command.
  const isFed = reading.redirects.some(({ operator }) => operator.startsWith('<<'));
  const commands = isFed
    ? reading.commands.map((command) => addInput(command, HIDDEN_INPUT))
    : reading.commands;
  return { ...reading, commands, directory, doubts: [...reading.doubts] };
}

const HIDDEN_INPUT: FedInput = { text: null };

function createUnreadableLine(error: string): ParsedShellLine {
  return { commands: [], redirects: [], tests: [], directory: null, errors: [error], doubts: [] };
}

/** The place of a node in the line. `isPiped`: a pipe may feed the standard input of its commands. */
interface NodePlace {
  readonly isPiped: boolean;
}

function visit(node: SyntaxNode, reading: MutableReading, place: NodePlace): void {
  collect(node, reading, place);
  const doubt = findNodeDoubt(node);
  if (doubt !== undefined) reading.doubts.add(doubt);
  const [first] = node.type === 'Pipeline' ? node.commands : [];
  const isFed = node.type === 'ProcessSubstitution' && node.operator === '>';
  forEachChild(node, (child) => {
    const isReceiver = node.type === 'Pipeline' && child !== first;
    visit(child, reading, { isPiped: place.isPiped || isFed || isReceiver });
  });
}

function collect(node: SyntaxNode, reading: MutableReading, { isPiped }: NodePlace): void {
  switch (node.type) {
    case 'Script':
      for (const error of node.errors ?? []) reading.errors.push(error.message);
      return;
    case 'Word':
      if (hasHiddenSyntax(node)) reading.errors.push('it has syntax inside of a word');
      return;
    case 'Command':
      if (hasTouchingWords(node)) reading.errors.push('it has words without a blank between them');
      reading.commands.push(toSimpleCommand(node, isPiped));
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

function toSimpleCommand(command: Command, isPiped: boolean): SimpleCommand {
  const words: ShellWord[] = command.name === undefined ? [] : [toShellWord(command.name)];
  for (const argument of command.args) {
    words.push(argument.type === 'Word' ? toShellWord(argument) : createUnknownWord(argument.text));
  }
  const hasAssignments = command.prefix.some((each) => each.type === 'Assignment');
  const text = findInputText(command.redirects);
  return {
    words,
    hasAssignments,
    isOpenEnded: false,
    ...(isPiped || text !== null ? { input: { text } } : {}),
  };
}

/**
 * Finds the text that the only redirection of a command feeds to its standard input. Returns null if there is no such
 * text, or if the shell changes it: in a here-document without a quoted delimiter, backslashes have a meaning.
 */
function findInputText(redirects: Command['redirects']): string | null {
  const [only, ...others] = redirects.filter(({ operator }) => operator.startsWith('<'));
  if (only === undefined || others.length > 0) return null;
  if (only.descriptor !== undefined || !only.operator.startsWith('<<')) return null;
  const { target } = toShellRedirect(only);
  const isVerbatim =
    only.type === 'HereString' ||
    (only.type === 'HereDoc' && only.delimiter?.quoted === true) ||
    target?.value?.includes('\\') === false;
  return isVerbatim ? (target?.value ?? null) : null;
}

/** Tells whether two words touch: `a<(b)` is one word for bash, but two words for unbash. */
function hasTouchingWords({ name, args }: Command): boolean {
  const words = name === undefined ? args : [name, ...args];
  return words.some((word, index) => word.pos === words[index - 1]?.end);
}

/**
 * Finds `ParsedShellLine.directory`: the line must begin with cd, and every later command must depend on its success.
 */
function findDirectory(script: Script): ShellWord | null {
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

/** The types of nodes that raise no doubt: they only combine commands, or are examined together with their command. */
const PLAIN_NODES: ReadonlySet<string> = new Set(
  [
    'Script Statement CompoundList Pipeline Time Negation AndOr Subshell BraceGroup If Elif While',
    'Command Word Literal SingleQuoted DoubleQuoted AnsiCQuoted Glob ExtendedGlob BraceExpansion',
    'SimpleExpansion CommandExpansion ProcessSubstitution Default Remove Replace CaseModification',
    'Redirect HereString HereDoc HereDocDelimiter HereDocBody FileDescriptor Redirected',
    'TestCommand TestUnary TestBinary TestLogical TestNot TestGroup',
  ].flatMap((types) => types.split(' ')),
);

function findNodeDoubt(node: SyntaxNode): string | undefined {
  if (PLAIN_NODES.has(node.type)) return undefined;
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

/**
 * Tells whether an expansion is harmless. Subscripts and slices are arithmetic, which can run commands; `=`, `@` and
 * `!` set variables or evaluate text.
 */
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

function toShellRedirect(node: Redirect | HereString | HereDoc): ShellRedirect {
  const { operator } = node;
  switch (node.type) {
    case 'HereDoc': {
      const { text, parts = [] } = node.body;
      // If the closing line is missing, it is not known where the here-document ends for bash.
      if (node.closing === undefined) return { operator, target: null, opensFile: false };
      const isQuoted = node.delimiter?.quoted === true;
      return {
        operator,
        target: toHereDocumentWord(text, isQuoted ? [] : parts),
        opensFile: false,
      };
    }
    case 'HereString': {
      const target = node.target === undefined ? null : toShellWord(node.target);
      return { operator, target, opensFile: false };
    }
    case 'Redirect': {
      const isUnclear = node.descriptor?.type === 'FileDescriptorVariable';
      const target = node.target === undefined || isUnclear ? null : toShellWord(node.target);
      return { operator, target, opensFile: opensFile(operator, target?.value ?? null) };
    }
  }
}

/** Matches the null device and the three standard descriptors, for which no file is opened. */
const NO_FILE = /^\/dev\/(?:null|std(?:in|out|err)|fd\/[0-2])$/;

function opensFile(operator: string, value: string | null): boolean {
  if (value !== null && NO_FILE.test(value)) return false;
  const duplicates = operator === '>&' || operator === '<&';
  return !(duplicates && value !== null && /^(?:\d+-?|-)$/.test(value));
}

/** Converts a word of the parser. Its value is set if it can be determined without running the shell. */
function toShellWord(word: Word): ShellWord {
  const { text, value } = word;
  const form = findForm(word);
  switch (form) {
    case 'literal':
      // A quoted tilde is an ordinary character.
      return { text, value, form, path: value.startsWith('~') ? `./${value}` : value };
    case 'home':
      return { text, value: null, form, path: value };
    default:
      return { text, value: null, form, path: null };
  }
}

const QUOTED = /\\[\s\S]|'[^']*'|\$'(?:[^\\']|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/g;
const SYNTAX = /[()<>|&;`]|\$[\w({['"@*#?!$-]/;

/**
 * Tells whether bash would find syntax in characters that unbash parses as plain text: for unbash `{x}<(y)` is one
 * plain word, while bash runs y.
 */
function hasHiddenSyntax({ text, parts }: Word): boolean {
  const plain =
    parts === undefined
      ? [text]
      : parts.flatMap((part) => (part.type === 'Literal' ? [part.text] : []));
  return plain.some((each) => SYNTAX.test(each.replace(QUOTED, '')));
}

/** Creates a word about which nothing is known. */
function createUnknownWord(text: string): ShellWord {
  return { text, value: null, form: 'open', path: null };
}

/** Converts the text of a here-document, which the shell may expand and never splits into words. */
function toHereDocumentWord(text: string, parts: readonly WordPart[]): ShellWord {
  const isLiteral = parts.every(isLiteralPart);
  return { text, value: isLiteral ? text : null, form: isLiteral ? 'literal' : 'text', path: null };
}

/** Bash also expands a tilde after the `=` of an argument that looks like an assignment. */
const ASSIGNMENT_WITH_TILDE = /^[A-Za-z_]\w*(?:\[.*\])?\+?=.*~/s;

function findForm({ text, parts = [] }: Word): WordForm {
  if (ASSIGNMENT_WITH_TILDE.test(text)) return 'open';
  const isLiteral = parts.every(isLiteralPart);
  if (text.startsWith('~')) return isLiteral && /^~(?:\/|$)/.test(text) ? 'home' : 'open';
  if (isLiteral) return 'literal';
  const [only, ...others] = parts;
  if (only?.type === 'ProcessSubstitution' && only.operator === '<' && others.length === 0) {
    return 'pipe';
  }
  if (parts.every(isOneWord)) return 'text';
  return parts.every((part) => part.type === 'Glob' || isLiteralPart(part)) ? 'glob' : 'open';
}

function isLiteralPart(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return true;
    case 'AnsiCQuoted':
      // Rarer escapes depend on the locale, or end the word early.
      return /^(?:[^\\]|\\[nt\\'"])*$/.test(part.text.slice(2, -1));
    case 'DoubleQuoted':
      return part.parts.every(isLiteralPart);
    default:
      return false;
  }
}

/** Tells whether the expansion of a part always stays in one word and is not used as a pattern for file names. */
function isOneWord(part: WordPart): boolean {
  if (isLiteralPart(part)) return true;
  if (part.type === 'SimpleExpansion') return /^\$[?#$]$/.test(part.text);
  // `"$@"` and `"${x[@]}"` can be any number of words.
  return part.type === 'DoubleQuoted' && !/\$(?:@|\{[^}]*@)/.test(part.text);
}
