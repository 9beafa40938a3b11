import { checksOf, looksOnly } from './check-kinds.ts';
import { effectOf } from './command-effects.ts';
import type { Match } from './same-command.ts';
import { baseName, type Segment } from './shell-lines.ts';
import { isDenied, partsOf } from './wording.ts';

/** What only version control does. */
export type GitAct = 'commit' | 'push' | 'tag' | 'branch' | 'merge' | 'pull request';

const BRANCH = '(?:\\bbranch|\\binto (?:main|master|develop)\\b)';
/**
 * Each with the subcommands of git that do it, the past tenses that tell of it, and what it makes, where it is
 * told by that: "created a tag".
 */
const ACTS: readonly (readonly [act: GitAct, by: string, done: string, made: string])[] = [
  ['commit', 'commit merge rebase cherry-pick revert am', 'committed|cherry-picked', 'commits?'],
  ['push', 'push', '(?:force-)?pushed(?! (?:down|back|out|aside|up the))', 'remote branch'],
  ['tag', 'tag', 'tagged(?! (?:with|as|by) ‹x›)', '(?:annotated |signed |release )?tag'],
  ['branch', 'branch checkout switch worktree push', 'branched', '(?:\\w+ )?(?:branch|worktree)'],
  ['merge', 'merge rebase pull', `rebased|merged(?= .{0,40}${BRANCH})`, 'merge commit'],
  ['pull request', 'push', 'merged the pr', '(?:draft )?(?:pr|(?:pull|merge) request)'],
];
const FREELY = '(?:also|then|now|just|all|both|already|successfully|finally|locally)';
const OWN = `(?:^(?:[^\\w‹]|(?:${FREELY}|done|and|everything|changes) )*|\\b(?:i|we)(?:'ve| have)? (?:${FREELY} )*|\\b(?:and|then) (?:${FREELY} )*|,(?: ${FREELY})* |\\b(?:is|are|was|were|been) (?:${FREELY} )*|\\b(?:changes?|work|fix|result|it|all|everything) )`;
const FIRST = /(?:^|[ ,])(?:i|we)(?:'ve)? /;
/** Of others' work, or of what a program does. */
const OTHERS =
  /\b(?:ago|yesterday|last (?:week|month|year)|upstream|author|maintainers?|users?|you|ci|by [a-z@]|hook|each time|every|(?:19|20)\d\d|once|history)\b/;

let told: readonly (readonly [GitAct, RegExp])[] | null = null;

function patterns(): readonly (readonly [GitAct, RegExp])[] {
  told ??= ACTS.map(([act, , done, made]) => {
    const makes = `(?:created|made|opened|raised|cut|added) (?:an?|the|one|two|three|\\d+|as)?(?: (?!‹f)[\\w‹›-]+){0,2}? ?(?:${made})`;
    const isMade = `^(?:the |an? )?(?:${made}) (?:‹x› |\\S{1,40} )?(?:(?:is|was|has been) )?(?:${FREELY} )*(?:created|made|opened|pushed|set|cut)`;
    return [act, new RegExp(`(?:${OWN}(?:${done}|${makes})|${isMade})\\b`)];
  });
  return told;
}

/** The acts of version control that a statement says were done. */
export function actsClaimed(
  text: string,
  { isFirstOnly }: { readonly isFirstOnly: boolean },
): readonly GitAct[] {
  if (!/commit|push|tag|branch|merge|rebas|pull|\bpr\b|\bmr\b|worktree|pick/.test(text)) return [];
  return partsOf(text).flatMap((part) =>
    OTHERS.test(part) || isDenied(part) || (isFirstOnly && !FIRST.test(part))
      ? []
      : patterns().flatMap(([act, pattern]) => (pattern.test(part) ? [act] : [])),
  );
}

/** Whether a program that ran is one that does it, or may have. */
export function mayDo(segment: Segment, act: GitAct): Match {
  const [first = '', ...args] = segment.words;
  const program = baseName(first);
  if (program === 'git') {
    const by = ACTS.find(([name]) => name === act)?.[1].split(' ');
    return args.some((word) => by?.includes(word)) ? 'is' : 'no';
  }
  if (/^(?:gh|glab|hub|jj|hg|svn|sl|gt)$/.test(program)) return 'may';
  if (looksOnly(segment)) return 'no';
  if (segment.words.some((word) => /release|version|publish|deploy|commit|tag/.test(word)))
    return 'may';
  const { kinds, isOpen } = checksOf(segment);
  return isOpen || (kinds.size === 0 && effectOf(segment) === 'anything') ? 'may' : 'no';
}
