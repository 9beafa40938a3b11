import { mapByName } from '../name-table.ts';

/**
 * The output of a git subcommand. `names`: only names and messages. Otherwise the output may include the contents of
 * files: `if` means only with one of the options, and `unless` means always except with one of the options.
 */
type Shows = 'names' | { readonly contents: 'unless' | 'if'; readonly options: readonly string[] };

export interface GitSubcommandRule {
  /** The accepted options, in the syntax of `parseOptionTable`. */
  readonly options: string;
  readonly shows: Shows;
  /**
   * The kind of the operands. `revisions`: revisions or paths. `text`: names and patterns of references. `listed`:
   * patterns, which are accepted only with --list, because without --list git would create branches or tags with these
   * names.
   */
  readonly operands: 'revisions' | 'paths' | 'text' | 'listed' | 'none';
  /** True if the first operand is a pattern when there is no option -e. */
  readonly pattern?: true;
  /** If set, the first word must be one of these, such as `list` in `git stash list`. */
  readonly verbs?: readonly string[];
}

const NO_CONTENTS = [
  '--stat',
  '--shortstat',
  '--numstat',
  '--dirstat',
  '--summary',
  '--name-only',
  '--name-status',
  '--raw',
  '--no-patch',
  '-s',
];
const CONTENTS = [
  '-p',
  '-u',
  '--patch',
  '--patch-with-stat',
  '--patch-with-raw',
  '-U',
  '--unified',
  '-W',
  '--function-context',
  '-L',
  '-c',
  '--cc',
  '-m',
  '--word-diff',
  '--color-words',
];

const DIFF_OPTIONS =
  '-pusRzabwWB[=] -U# -M[=] -C[=] -S= -G= -l# --patch --no-patch --unified# --raw --patch-with-raw --patch-with-stat --stat[=] --stat-width# --compact-summary --numstat --shortstat --dirstat[=] --summary --name-only --name-status --color[=] --no-color --color-moved[=] --color-words[=] --word-diff[=] --word-diff-regex= --minimal --patience --histogram --diff-algorithm= --no-renames --find-renames[=] --find-copies[=] --find-copies-harder --diff-filter= --pickaxe-all --pickaxe-regex --relative[=] --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context# --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules[=] --src-prefix= --dst-prefix= --no-prefix --full-index --abbrev[=] --check --indent-heuristic';

const LOG_OPTIONS = `${DIFF_OPTIONS} -mciEFPgq -# -n# -L= --cc --oneline --graph --decorate[=] --no-decorate --decorate-refs= --all --branches[=] --tags[=] --remotes[=] --glob= --exclude= --max-count# --skip# --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --format= --pretty[=] --date= --date-order --topo-order --author-date-order --reverse --merges --no-merges --first-parent --min-parents# --max-parents# --follow --full-diff --full-history --simplify-merges --simplify-by-decoration --ancestry-path --boundary --cherry --cherry-pick --cherry-mark --left-right --left-only --right-only --left-only --walk-reflogs --abbrev-commit --no-abbrev-commit --parents --children --relative-date --source --no-notes --notes[=] --use-mailmap --mailmap --no-mailmap --no-walk[=] --expand-tabs[=] --encoding= --no-expand-tabs`;

const REFERENCES =
  '-i --sort= --contains=? --no-contains=? --merged=? --no-merged=? --points-at= --format= --color[=] --no-color --ignore-case --column[=] --no-column';

/** The subcommands of git that only read, with every option that was examined. */
export const GIT_SUBCOMMANDS = mapByName<GitSubcommandRule>({
  status: {
    options:
      '-sbz -u[=] --short --branch --show-stash --porcelain[=] --long --untracked-files[=] --ignore-submodules[=] --ignored[=] --null --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames[=]',
    shows: 'names',
    operands: 'paths',
  },
  log: {
    options: LOG_OPTIONS,
    shows: { contents: 'if', options: CONTENTS },
    operands: 'revisions',
  },
  diff: {
    options: `${DIFF_OPTIONS} -c --cc --cached --staged --merge-base --base --ours --theirs -0 -1 -2 -3`,
    shows: { contents: 'unless', options: NO_CONTENTS },
    operands: 'revisions',
  },
  show: {
    options: LOG_OPTIONS,
    shows: { contents: 'unless', options: NO_CONTENTS },
    operands: 'revisions',
  },
  'ls-files': {
    options:
      '-cdmoiskutvz -x= --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude= --exclude-standard --error-unmatch --full-name --abbrev[=]',
    shows: 'names',
    operands: 'paths',
  },
  'ls-tree': {
    options:
      '-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev[=]',
    shows: 'names',
    operands: 'revisions',
  },
  blame: {
    options:
      '-bcpeflnstw -L= -M[=] -C[=] --root --show-stats --line-porcelain --porcelain --incremental --show-name --show-number --show-email --reverse --first-parent --date= --since= --abbrev# --ignore-rev= --color-lines --color-by-age',
    shows: { contents: 'unless', options: [] },
    operands: 'revisions',
  },
  'rev-parse': {
    options:
      '-q --verify --quiet --short[=] --abbrev-ref[=] --symbolic --symbolic-full-name --all --branches[=] --tags[=] --remotes[=] --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --revs-only --no-revs --flags --no-flags --default= --show-object-format[=]',
    shows: 'names',
    operands: 'text',
  },
  'rev-list': {
    options:
      '-# -n# --count --max-count# --skip# --all --branches[=] --tags[=] --remotes[=] --since= --until= --author= --grep= --merges --no-merges --first-parent --reverse --left-right --cherry-pick --topo-order --date-order --abbrev-commit --oneline --parents --objects --no-walk',
    shows: 'names',
    operands: 'revisions',
  },
  'cat-file': {
    options: '-petsp',
    shows: { contents: 'unless', options: ['-e', '-t', '-s'] },
    operands: 'revisions',
  },
  'merge-base': {
    options: '-a --all --octopus --is-ancestor --fork-point',
    shows: 'names',
    operands: 'text',
  },
  describe: {
    options:
      '--all --tags --contains --abbrev# --candidates# --exact-match --long --match= --exclude= --always --first-parent',
    shows: 'names',
    operands: 'text',
  },
  shortlog: {
    options:
      '-nsec --numbered --summary --email --committer --no-merges --all --since= --until= --author= --format=',
    shows: 'names',
    operands: 'revisions',
  },
  branch: {
    options: `-arvq --all --remotes --list --verbose --show-current --abbrev# --no-abbrev ${REFERENCES}`,
    shows: 'names',
    operands: 'listed',
  },
  tag: { options: `-l -n[=] --list ${REFERENCES}`, shows: 'names', operands: 'listed' },
  'for-each-ref': { options: `--count# ${REFERENCES}`, shows: 'names', operands: 'text' },
  'show-ref': {
    options:
      '-dsq --heads --branches --tags --head --dereference --hash[=] --abbrev[=] --verify --quiet',
    shows: 'names',
    operands: 'text',
  },
  remote: { options: '-v --verbose', shows: 'names', operands: 'none' },
  stash: {
    options: `${LOG_OPTIONS}`,
    shows: { contents: 'if', options: CONTENTS },
    operands: 'text',
    verbs: ['list'],
  },
  reflog: {
    options: LOG_OPTIONS,
    shows: { contents: 'if', options: CONTENTS },
    operands: 'revisions',
    verbs: ['show'],
  },
  worktree: {
    options: '-vz --verbose --porcelain',
    shows: 'names',
    operands: 'text',
    verbs: ['list'],
  },
  version: { options: '', shows: 'names', operands: 'none' },
  grep: {
    options:
      '-aiIwvhHEGFPnlLzocpWq -# -e= -m# -A# -B# -C# --cached --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color[=] --no-color --break --heading --show-function --function-context --context# --after-context# --before-context# --max-count# --max-depth# --all-match --and --or --not --quiet --no-textconv',
    shows: { contents: 'unless', options: [] },
    operands: 'revisions',
    pattern: true,
  },
});
