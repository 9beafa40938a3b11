import type { ShellWord } from '../parsed-line.ts';
import { quoteShellWord, provenToRead, explainUnknownValue, notProven } from './proof.ts';
import type { CommandRead, ReadOnlyVerdict } from './proof.ts';

const ALONE: ReadonlySet<string> = new Set(
  [
    '-print -print0 -ls -depth -d -mount -xdev -noleaf -empty -executable -readable -writable',
    '-nouser -nogroup -true -false -prune -quit -not -a -and -o -or -daystart ! ( ) ,',
  ].flatMap((names) => names.split(' ')),
);

/** Followed by a word that is text to them. */
const WITH_TEXT: ReadonlySet<string> = new Set(
  [
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname',
    '-type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -perm -user',
    '-group -uid -gid -links -inum -fstype -printf -newermt -newerct -newerat',
  ].flatMap((names) => names.split(' ')),
);

const WITH_PATH: ReadonlySet<string> = new Set(['-newer', '-anewer', '-cnewer', '-samefile']);

/** find has a language in place of options: paths first, then tests and actions, each of them a word. */
export function checkFind(words: readonly ShellWord[]): ReadOnlyVerdict {
  const waiting = words.toReversed();
  // Not to follow links is its default.
  if (waiting.at(-1)?.value === '-P') waiting.pop();
  const starts: CommandRead[] = [];
  for (let word = waiting.at(-1); word !== undefined; word = waiting.at(-1)) {
    if (word.path === null) return notProven(explainUnknownValue(word));
    if (word.value !== null && /^[-(),!]/.test(word.value)) break;
    starts.push({ path: word.path, below: 'names' });
    waiting.pop();
  }
  const compared: CommandRead[] = [];
  for (let word = waiting.pop(); word !== undefined; word = waiting.pop()) {
    const { value } = word;
    if (value === null) return notProven(explainUnknownValue(word));
    if (ALONE.has(value)) continue;
    const isPath = WITH_PATH.has(value);
    if (!isPath && !WITH_TEXT.has(value)) {
      return notProven(
        `${quoteShellWord(value)} of find is not among the parts that surely only read`,
      );
    }
    const operand = waiting.pop();
    if (operand === undefined) return notProven(`${quoteShellWord(value)} lacks its value`);
    if (isPath && operand.path !== null) compared.push({ path: operand.path, below: 'itself' });
    else if (operand.value === null) return notProven(explainUnknownValue(operand));
  }
  const here: readonly CommandRead[] = [{ path: '.', below: 'names' }];
  return provenToRead([...(starts.length === 0 ? here : starts), ...compared]);
}
