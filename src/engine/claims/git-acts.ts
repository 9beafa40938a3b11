import { checksOf, looksOnly } from './check-kinds.ts';
import { effectOf } from './command-effects.ts';
import type { Match } from './same-command.ts';
import { baseName, type Segment } from './shell-lines.ts';
import { isDenied, partsOf } from './wording.ts';

/** What only version control does. */
export type GitAct = 'commit' | 'push' | 'tag' | 'branch' | 'merge' | 'pull request';

interface Act {
  /** Subcommands of git that do it. */
  readonly by: string;
  /** Past participles that tell of it. */
  readonly done: string;
  /** What it makes, where it is told by that: "created a tag". */
  readonly made: string;
}

const ACTS: Readonly<Record<GitAct, Act>> = {
  commit: {
    by: 'commit merge rebase cherry-pick revert am',
    done: 'committed|(?:squashed|amended)(?= .{0,40}commits?)|cherry-picked',
    made: 'commits?',
  },
  push: { by: 'push', done: '(?:force-)?pushed(?! (?:down|back|out|aside|up the))', made: '' },
  tag: {
    by: 'tag',
    done: 'tagged(?! (?:with|as|by) ‹x›)',
    made: '(?:annotated |signed |release )?tag',
  },
  branch: {
    by: 'branch checkout switch worktree push',
    done: '(?:checked out|switched to|branched)(?= .{0,30}branch)',
    made: '(?:feature |new |topic |release )?(?:branch|worktree)',
  },
  merge: {
    by: 'merge rebase pull cherry-pick',
    done: 'rebased|fast-forwarded|merged(?= .{0,40}(?:\\bbranch|\\binto (?:main|master|develop)\\b))',
    made: 'merge commit',
  },
  'pull request': {
    by: 'push request-pull',
    done: '',
    made: '(?:draft )?(?:pr|pull request|merge request|mr)',
  },
};
const GIT_ACTS: readonly GitAct[] = ['commit', 'push', 'tag', 'branch', 'merge', 'pull request'];
const FREELY = '(?:also|then|now|just|all|both|already|successfully|finally|locally)';
const OWN = `(?:^(?:[^\\w‹]|(?:${FREELY}|done|and|everything|changes) )*|\\b(?:i|we)(?:'ve| have)? (?:${FREELY} )*|\\b(?:and|then) (?:${FREELY} )*|,(?: ${FREELY})* |\\b(?:is|are|was|were|been) (?:${FREELY} )*|\\b(?:changes?|work|fix|result|it|all|everything) )`;
const FIRST = /(?:^|[ ,])(?:i|we)(?:'ve)? /;
/** Of others' work, or of what a program does. */
const OTHERS =
  /\b(?:ago|yesterday|last (?:week|month|year)|upstream|author|maintainers?|users?|you|ci|by [a-z@]|hook|each time|every|(?:19|20)\d\d|once|history)\b/;

let told: readonly (readonly [GitAct, RegExp])[] | null = null;

function patterns(): readonly (readonly [GitAct, RegExp])[] {
  told ??= GIT_ACTS.map((act) => {
    const { done, made } = ACTS[act];
    const ways = [
      ...(done === '' ? [] : [`${OWN}(?:${done})\\b`]),
      ...(made === ''
        ? []
        : [
            `${OWN}(?:created|made|opened|raised|cut|added|put up) (?:an?|the|one|two|three|\\d+|as)?(?: (?!‹f)[\\w‹›-]+){0,2}? ?(?:${made})\\b`,
            `^(?:the |an? )?(?:${made}) (?:‹x› |\\S{1,40} )?(?:(?:is|was|has been) )?(?:${FREELY} )*(?:created|made|opened|pushed|set|cut)\\b`,
          ]),
    ];
    return [act, new RegExp(ways.join('|'))];
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
  if (program === 'git')
    return args.some((word) => ACTS[act].by.split(' ').includes(word)) ? 'is' : 'no';
  if (/^(?:gh|glab|hub|jj|hg|svn|sl|gt)$/.test(program)) return 'may';
  if (looksOnly(segment)) return 'no';
  if (segment.words.some((word) => /release|version|publish|deploy|commit|tag/.test(word)))
    return 'may';
  const { kinds, isOpen } = checksOf(segment);
  return isOpen || (kinds.size === 0 && effectOf(segment) === 'anything') ? 'may' : 'no';
}
