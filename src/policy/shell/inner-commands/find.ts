import type { ShellWord } from '../parsed-line.ts';
import { createCommand, createOpenRun, type InnerRunFinder, type InnerRun } from './inner-run.ts';

const ACTION = /^-(?:exec|ok)(?:dir)?$/;
const FD_ACTION = /^(?:-x|-X|--exec|--exec-batch)$/;

/** `find … -exec COMMAND ;` and similar actions, any number of them. */
export const findProgramRuns: InnerRunFinder = (words) => findActions(words, ACTION);

/** `fd -x COMMAND`, up to the end or a `;`. The option may also be one of several letters in a word, or have its value attached. */
export const fdRuns: InnerRunFinder = (words) => {
  const combined = words.findIndex(({ value }) =>
    /^(?:-[A-Za-z]*[xX].*|--exec(?:-batch)?=.*)$/s.test(value ?? ''),
  );
  const isPlain = combined < 0 || FD_ACTION.test(words[combined]?.value ?? '');
  const runs = findActions(words, FD_ACTION);
  return isPlain
    ? runs
    : [...runs, createOpenRun(combined, [createCommand(words.slice(combined + 1), true)])];
};

function findActions(words: readonly ShellWord[], action: RegExp): readonly InnerRun[] {
  const runs: InnerRun[] = [];
  let end = 0;
  for (const [at, { value, form }] of words.entries()) {
    if (at < end) continue;
    if (value === null) {
      const rest = words.slice(at + 1);
      // A word that turns out to be `-exec` needs an end of its command after it.
      const hasEnd =
        form !== 'text' || rest.some((word) => word.value === null || ENDS.has(word.value));
      // All words after it could be its command, so there is nothing more to find.
      if (hasEnd && canBeAction(words[at]))
        return [...runs, createOpenRun(at, listPossibleCommands(rest))];
    } else if (action.test(value)) {
      const found = words.findIndex((_, index) => index > at && isEnd(words, index));
      end = found < 0 ? words.length : found;
      const command = createCommand(words.slice(at + 1, end));
      runs.push({
        index: at,
        commands: [command],
        visible: insertsFileNames(command.words) ? 'some' : 'all',
      });
    }
  }
  return runs;
}

function canBeAction(word: ShellWord | undefined): boolean {
  if (word === undefined || FILE_PATTERN.test(word.text)) return false;
  return /^["']*[-$`*?[{]/.test(word.text);
}

/** A pattern such as `*.ts` without quotes. It is no option whatever files there are, since no option of find has a dot. */
const FILE_PATTERN = /^\*\.\w+$/;

function listPossibleCommands(words: readonly ShellWord[]): InnerRun['commands'] {
  return words.map((_, index) => createCommand(words.slice(index), true));
}

const ENDS: ReadonlySet<string> = new Set([';', '+']);

/** Tells whether the word at this index is a `;`, or a `+` after `{}`. */
function isEnd(words: readonly ShellWord[], index: number): boolean {
  const value = words[index]?.value;
  return value === ';' || (value === '+' && words[index - 1]?.value === '{}');
}

/** Tells whether the name of a file becomes a part of a word, which may be a text for a shell. */
function insertsFileNames(words: readonly ShellWord[]): boolean {
  return words.some(({ value }) => value === null || (value !== '{}' && value.includes('{}')));
}
