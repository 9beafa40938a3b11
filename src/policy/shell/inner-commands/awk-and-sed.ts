import { lazy } from '../../../base/lazy.ts';
import { parseCommandArguments } from '../read-only/arguments.ts';
import { parseOptionTable } from '../options/option-table.ts';
import type { ShellWord } from '../parsed-line.ts';
import { canBeOption, createOpenRun, parseCodeRun, type InnerRunFinder } from './inner-run.ts';

const AWK_OPTIONS =
  '-bcCgIkMnNOPrsStVh -F= -v= -f@ -e= -i= -l= -E= --field-separator= --assign= --file@ --source= --include= --load= --exec= --posix --re-interval --sandbox --traditional --version --help';
/**
 * Matches parts of an awk program that may run commands: `system`, `|`, `getline`, and `@`, which loads code or calls a
 * function by a computed name. Matches inside strings count too, because only awk itself can tell where a string
 * starts: a regular expression may contain a quote.
 */
const AWK_RUNS = /\bsystem\b|\bgetline\b|\||@/;

/** Finds the commands that awk runs from its program text. */
export const findAwkRuns: InnerRunFinder = (words, parser) => {
  const result = parseCommandArguments(words.map(toOperand), parseOptionTable(AWK_OPTIONS));
  if (!result.ok) return [createOpenRun(words.length - 1, listQuotedCommands(words, parser))];
  const { options, operands } = result.parsed;
  const loadsCode = options.some(({ name }) => /^(?:-[il]|--include|--load)$/.test(name));
  const hasFile = options.some(({ name }) => /^(?:-[fE]|--file|--exec)$/.test(name));
  const sources = options.flatMap(({ name, value }) =>
    name === '-e' || name === '--source' ? [value] : [],
  );
  const programs = hasFile || sources.length > 0 ? sources : operands.slice(0, 1);
  const executing = programs.filter((text) => text === null || awkRunsCommands(text));
  if (executing.length === 0) return loadsCode ? [createOpenRun(words.length - 1)] : [];
  return executing.map((text) => parseCodeRun(findIndexOf(words, text), text ?? undefined, parser));
};

function awkRunsCommands({ value }: ShellWord): boolean {
  return value === null || AWK_RUNS.test(value.replaceAll('||', ' '));
}

const SED_OPTIONS =
  '-nsuzErib -e= -f@ -l# --quiet --silent --debug --expression= --file@ --in-place[=] --line-length# --null-data --posix --regexp-extended --separate --sandbox --unbuffered --zero-terminated --follow-symlinks --version --help';

/**
 * Finds the commands that sed runs with `e` and with the flag `e` of `s`. A script that writes files (`w`) also counts
 * as a run.
 */
export const findSedRuns: InnerRunFinder = (words, parser) => {
  const plain = words.map((word) =>
    /^-[nsuzEr]*i./.test(word.value ?? '') ? removeSuffix(word) : word,
  );
  const result = parseCommandArguments(plain.map(toOperand), parseOptionTable(SED_OPTIONS));
  if (!result.ok) return [createOpenRun(words.length - 1, listQuotedCommands(words, parser))];
  const { options, operands } = result.parsed;
  const hasFile = options.some(({ name }) => name === '-f' || name === '--file');
  const expressions = options.flatMap(({ name, value }) =>
    name === '-e' || name === '--expression' ? [value] : [],
  );
  const scripts = hasFile || expressions.length > 0 ? expressions : operands.slice(0, 1);
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
 * Builds a pattern for a bracket expression whose end is the same in every version of sed. In newer versions a
 * delimiter inside brackets is an ordinary character, and in older versions it ends the expression, so a bracket
 * expression with a delimiter does not match.
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

/** Tells whether a script contains only commands that certainly change only the text. */
function isPlainSed(script: string): boolean {
  let rest = script;
  while (rest !== '') {
    const found = SED_COMMAND().exec(rest)?.[0] ?? '';
    if (found === '') return false;
    const next = rest.slice(found.length);
    // If the command has no end before the next text, that text belongs to the command.
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

/**
 * Finds the index of a word; the index of the last word if a value is only a part of its word. Then only a rule for the
 * full line covers it.
 */
function findIndexOf(words: readonly ShellWord[], word: ShellWord | null): number {
  const at = words.findIndex(({ text }) => text === word?.text);
  return at < 0 ? words.length - 1 : at;
}
