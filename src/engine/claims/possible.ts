import { kindsOf } from './check-kinds.ts';
import { mayHaveWritten, mayHaveWrittenAny } from './command-effects.ts';
import type { ClaimFacts } from './facts.ts';
import { isSameFile } from './file-names.ts';
import { perFacts } from './per-facts.ts';
import { programName, segmentsOf, type Segment } from './shell-lines.ts';

/** Whether a file, as an answer names it, may have been changed by the task or below it. */
export function mayHaveChanged(file: string, facts: ClaimFacts): boolean {
  const known = filesAskedFor(facts);
  const found = known.get(file) ?? isChanged(file, facts);
  known.set(file, found);
  return found;
}

const filesAskedFor = perFacts(() => new Map<string, boolean>());

function isChanged(file: string, { changed, runs }: ClaimFacts): boolean {
  return (
    changed.some((path) => isSameFile(file, path) || isWithin(path, file)) ||
    runs.some((group) => group.some(({ command }) => mayHaveWritten(command, file)))
  );
}

/** A directory may have been named for what is in it. */
function isWithin(path: string, directory: string): boolean {
  return `/${path}/`.includes(`/${directory.replace(/^(?:\.?\/)+|\/+$/g, '')}/`);
}

/** Whether only the files of the receipt can have been changed: no command can have touched sources. */
export const changedNoOthers = perFacts(
  ({ runs }) => !runs.flat().some(({ command }) => mayHaveWrittenAny(command)),
);

/**
 * Whether anything can have come of the work. `idle`: no file was changed, and all that ran only looks;
 * `checked`: tests, builds or linters ran besides, which mend nothing.
 */
export function effortOf({ changed, runs, tools }: ClaimFacts): 'idle' | 'checked' | 'active' {
  if (changed.length > 0 || [...tools].some((tool) => ELSEWHERE.test(tool))) return 'active';
  const commands = runs.flat().map(({ command }) => command);
  if (commands.some(mayHaveWrittenAny)) return 'active';
  const segments = commands.flatMap(segmentsOf);
  if (segments.every(looksOnly)) return 'idle';
  return segments.every((each) => looksOnly(each) || kindsOf(each).kinds.size > 0)
    ? 'checked'
    : 'active';
}

/** Tools that change something which is no file. */
const ELSEWHERE = /^(?:Memory(?:Write|Patch|Append|Delete)|Board|HttpRequest|SetEnv)/;

/** Whether nothing was run at all. */
export function ranNothing({ runs }: ClaimFacts): boolean {
  return runs.every((group) => group.length === 0);
}

/** Programs that look and do nothing else, whatever their arguments, as long as nothing is redirected. */
const LOOKS = new Set(
  `cd pwd ls ll dir cat bat head tail less more grep egrep fgrep rg ag ack find fd wc sort uniq cut tr awk sed jq yq echo
   printf which whereis type file stat du df tree diff cmp comm date env printenv whoami uname id hostname sleep true
   false test [ basename dirname realpath readlink md5sum sha1sum sha256sum xxd hexdump od ps column nl strings`.split(
    /\s+/,
  ),
);
const GIT_LOOKS =
  /^(?:status|diff|log|show|blame|rev-parse|ls-files|ls-tree|ls-remote|cat-file|grep|describe|shortlog|rev-list|for-each-ref|merge-base)$/;
const ONLY_TELLS = /^(?:--version|-v|-V|--help|-h|version|help|--dry-run|-n)$/;

/** Whether a segment only looks; its exit code tells what it saw, as that of `grep` does. */
export function looksOnly({ words, targets }: Segment): boolean {
  if (targets.length > 0) return false;
  const [first = '', ...args] = words;
  const program = programName(first);
  if (program === 'git') {
    const verb = args.find((word, at) => !word.startsWith('-') && args[at - 1] !== '-C');
    const isListing =
      verb === 'branch' &&
      !args.some((word) => /^-[dDmMcCf]|^--(?:delete|move|copy|force)/.test(word));
    return verb === undefined || GIT_LOOKS.test(verb) || isListing;
  }
  return LOOKS.has(program) || args.some((word) => ONLY_TELLS.test(word));
}
