import { lazy } from '../../../base/lazy.ts';
import { parseCommandArguments } from '../read-only/arguments.ts';
import { parseOptionTable } from '../options/option-table.ts';
import type { ShellWord } from '../parsed-line.ts';
import { canBeOption, createOpenRun, parseCodeRun, type InnerRunFinder } from './inner-run.ts';

const AWK_OPTIONS =
  '-bcCgIkMnNOPrsStVh -F= -v= -f@ -e= -i= -l= -E= --field-separator= --assign= --file@ --source= --include= --load= --exec= --posix --re-interval --sandbox --traditional --version --help';
/**
 * Parts of an awk program that may run commands: `|` and `getline` do, and `@` loads code or calls a function whose name
 * is computed. They also count inside strings, because only awk itself knows where a string starts: a regular expression
 * may contain a quote.
 */
const AWK_RUNS = /\bsystem\b|\bgetline\b|\||@/;

/** awk runs commands from its program text. */
export const awkRuns: InnerRunFinder = (words, parser) => {
  const read = parseCommandArguments(words.map(toOperand), parseOptionTable(AWK_OPTIONS));
  if (!read.ok) return [createOpenRun(words.length - 1, listQuotedCommands(words, parser))];
  const { options, operands } = read.parsed;
  const loads = options.some(({ name }) => /^(?:-[il]|--include|--load)$/.test(name));
  const hasFile = options.some(({ name }) => /^(?:-[fE]|--file|--exec)$/.test(name));
  const sources = options.flatMap(({ name, value }) =>
    name === '-e' || name === '--source' ? [value] : [],
  );
  const programs = hasFile || sources.length > 0 ? sources : operands.slice(0, 1);
  const executing = programs.filter((text) => text === null || awkRunsCommands(text));
  if (executing.length === 0) return loads ? [createOpenRun(words.length - 1)] : [];
  return executing.map((text) => parseCodeRun(findIndexOf(words, text), text ?? undefined, parser));
};

function awkRunsCommands({ value }: ShellWord): boolean {
  return value === null || AWK_RUNS.test(value.replaceAll('||', ' '));
}

const SED_OPTIONS =
  '-nsuzErib -e= -f@ -l# --quiet --silent --debug --expression= --file@ --in-place[=] --line-length# --null-data --posix --regexp-extended --separate --sandbox --unbuffered --zero-terminated --follow-symlinks --version --help';

/** sed runs commands with `e` and with the flag `e` of `s`, and writes files with `w`. */
export const sedRuns: InnerRunFinder = (words, parser) => {
  const plain = words.map((word) =>
    /^-[nsuzEr]*i./.test(word.value ?? '') ? removeSuffix(word) : word,
  );
  const read = parseCommandArguments(plain.map(toOperand), parseOptionTable(SED_OPTIONS));
  if (!read.ok) return [createOpenRun(words.length - 1, listQuotedCommands(words, parser))];
  const { options, operands } = read.parsed;
  const hasFile = options.some(({ name }) => name === '-f' || name === '--file');
  const given = options.flatMap(({ name, value }) =>
    name === '-e' || name === '--expression' ? [value] : [],
  );
  const scripts = hasFile || given.length > 0 ? given : operands.slice(0, 1);
  return scripts
    .filter((script) => script === null || script.value === null || !isPlainSed(script.value))
    .map((script) =>
      createOpenRun(
        findIndexOf(words, script),
        listExecutedTexts(script).flatMap((text) => parser(text).commands),
      ),
    );
};

/** Removes the suffix of a backup file from `-i.bak`. */
function removeSuffix(word: ShellWord): ShellWord {
  return { ...word, text: '-i', value: '-i' };
}

/**
 * A bracket expression whose end is the same in every version of sed. In newer versions a delimiter inside brackets is an
 * ordinary character, in older ones it ends the expression, so a bracket expression with a delimiter is not accepted.
 */
const bracket = (delimiter: string): string =>
  String.raw`\[\^?(?![\^\]])(?:\[:[a-z]+:\]|\\[dfnrstvwDSW]|(?!${delimiter})[^\]\[\\\n])+\]`;
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\[\\\n]|\\.|${bracket('/')})*/I?)`;
const PATTERN = String.raw`(?:(?!\k<delimiter>)[^\[\\\n]|\\[\s\S]|${bracket(String.raw`\k<delimiter>`)})*`;
const SED_COMMAND = lazy(
  () =>
    new RegExp(
      String.raw`^\s*(?:${ADDRESS}(?:\s*,\s*(?:[+~]\d+|${ADDRESS}))?\s*!?\s*)?(?:[pPdDnNgGhHx=l}{]|[qQ]\d*|(?:[btT]\s*|:)[\w-]*(?=[;\n}]|$)|#[^\n]*|[sy](?<delimiter>[^\w\s\\\[])${PATTERN}\k<delimiter>(?:(?!\k<delimiter>)[^\\\n]|\\[\s\S])*\k<delimiter>[gpiIMm\d]*|[aic](?:\\\n|\\[^\n]|\s)[^\n]*)?\s*(?:[;\n}]|$)?`,
    ),
);

/** Tells whether a script contains only commands that certainly change nothing but the text. */
function isPlainSed(script: string): boolean {
  let rest = script;
  while (rest !== '') {
    const found = SED_COMMAND().exec(rest)?.[0] ?? '';
    if (found === '') return false;
    const next = rest.slice(found.length);
    // Without an end of the command before it, the next text belongs to the command.
    if (next !== '' && !/[;\n}{]\s*$/.test(found)) return false;
    rest = next;
  }
  return true;
}

/** Lists the texts after each `e` that could be a command of the script. */
function listExecutedTexts(script: ShellWord | null): readonly string[] {
  return [...(script?.value ?? '').matchAll(/e\s+([^\n]+)/g)].map(([, text]) => text ?? '');
}

function listQuotedCommands(words: readonly ShellWord[], parser: Parameters<InnerRunFinder>[1]) {
  return words
    .filter((word) => !canBeOption(word))
    .flatMap((word) => parseCodeRun(0, word, parser).commands);
}

/** Treats a word whose value is unknown as an operand, unless it can be an option. */
function toOperand(word: ShellWord): ShellWord {
  return word.value === null && !canBeOption(word) ? { ...word, path: word.text } : word;
}

/** A value that is only a part of its word is not found. Then only a rule for the full line can name it. */
function findIndexOf(words: readonly ShellWord[], word: ShellWord | null): number {
  const at = words.findIndex(({ text }) => text === word?.text);
  return at < 0 ? words.length - 1 : at;
}
