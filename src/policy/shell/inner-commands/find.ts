import type { ShellWord } from '../parsed-line.ts';
import { createCommand, createOpenRun } from './inner-run.ts';
import type { InnerRunFinder, InnerRun } from './inner-run.ts';

const ACTION = /^-(?:exec|ok)(?:dir)?$/;
const FD_ACTION = /^(?:-x|-X|--exec|--exec-batch)$/;

/** `find … -exec COMMAND ;` and the like, any number of them. */
export const findProgramRuns: InnerRunFinder = (words) => actionsIn(words, ACTION);

/** `fd -x COMMAND`, to the end or a `;`. Its option may also be one of several letters in a word, or be joined to its value. */
export const fdRuns: InnerRunFinder = (words) => {
  const joint = words.findIndex(({ value }) =>
    /^(?:-[A-Za-z]*[xX].*|--exec(?:-batch)?=.*)$/s.test(value ?? ''),
  );
  const isPlain = joint < 0 || FD_ACTION.test(words[joint]?.value ?? '');
  const runs = actionsIn(words, FD_ACTION);
  return isPlain
    ? runs
    : [...runs, createOpenRun(joint, [createCommand(words.slice(joint + 1), true)])];
};

function actionsIn(words: readonly ShellWord[], action: RegExp): readonly InnerRun[] {
  const runs: InnerRun[] = [];
  let end = 0;
  for (const [at, { value, form }] of words.entries()) {
    if (at < end) continue;
    if (value === null) {
      const rest = words.slice(at + 1);
      // One word that is `-exec` needs an end of its command behind it.
      const canBe =
        form !== 'text' || rest.some((word) => word.value === null || ENDS.has(word.value));
      // All that follows could be its command, so there is no more to find.
      if (canBe && isFree(words[at])) return [...runs, createOpenRun(at, possibleIn(rest))];
    } else if (action.test(value)) {
      const found = words.findIndex((_, index) => index > at && isEnd(words, index));
      end = found < 0 ? words.length : found;
      const command = createCommand(words.slice(at + 1, end));
      runs.push({
        index: at,
        commands: [command],
        visible: isTemplate(command.words) ? 'some' : 'all',
      });
    }
  }
  return runs;
}

function isFree(word: ShellWord | undefined): boolean {
  if (word === undefined || ENDS_LIKE_A_FILE.test(word.text)) return false;
  return /^["']*[-$`*?[{]/.test(word.text);
}

/** No option of find has a dot: `-name *.ts`, without quotes, is none, whatever files there are. */
const ENDS_LIKE_A_FILE = /^\*\.\w+$/;

function possibleIn(words: readonly ShellWord[]): InnerRun['commands'] {
  return words.map((_, index) => createCommand(words.slice(index), true));
}

const ENDS: ReadonlySet<string> = new Set([';', '+']);

/** A `;`, or a `+` behind `{}`. */
function isEnd(words: readonly ShellWord[], index: number): boolean {
  const value = words[index]?.value;
  return value === ';' || (value === '+' && words[index - 1]?.value === '{}');
}

/** Whether the name of a file becomes part of a word, which may be a text for a shell. */
function isTemplate(words: readonly ShellWord[]): boolean {
  return words.some(({ value }) => value === null || (value !== '{}' && value.includes('{}')));
}
