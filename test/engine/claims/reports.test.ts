import { describe, expect, it } from 'vitest';
import { checkClaims } from '../../../src/engine/claims/check-claims.ts';
import type { ClaimFacts, ClaimRun } from '../../../src/engine/claims/facts.ts';

const LOOKED_ONLY: ClaimFacts = {
  prompt: 'Move the date helpers into a module of their own',
  cwd: '/ws',
  read: [],
  changed: [],
  runs: [[]],
  tools: new Set(['Read']),
  hasGaps: false,
};

function after(...commands: readonly (readonly [string, ClaimRun['exitCode']])[]) {
  return {
    runs: [commands.map(([command, exitCode]) => ({ command, exitCode }))],
    tools: new Set(['Bash', 'Edit']),
    changed: ['/ws/main.go'],
  };
}
const CHANGED = { changed: ['/ws/main.go'], tools: new Set(['Read', 'Edit']) };

type Row = readonly [string, string, Partial<ClaimFacts>];

describe('a report is held against the receipt', () => {
  it.each<Row>([
    ['where something new is', 'The helpers are in `dates.go`.', CHANGED],
    ['what a new file does, now', '`dates.go` holds the helpers now.', CHANGED],
    ['what a file does where none was changed', '`dates.go` holds the helpers.', {}],
    ['a place behind its label', 'Fix: `dates.go`, two lines.', CHANGED],
    [
      'paths on lines of their own',
      'Changed:\n\npkg/a.go\npkg/b.go',
      { changed: ['/ws/pkg/a.go'] },
    ],
    [
      'a table of before and after',
      'It is 22 now:\n\n| File | Before | After |\n|-|-|-|\n| `.nvmrc` | 20 | 22 |',
      CHANGED,
    ],
    [
      'a commit that was not made',
      'Fixed and committed as "Move helpers".',
      after(['git status', 0]),
    ],
    [
      'a push where there was but a commit',
      'I pushed it to origin.',
      after(['git commit -m x', 0]),
    ],
    ['a tag', 'Created the tag `v2.0.1` on main.', after(['git log -1', 0])],
    ['a pull request', 'Opened a draft pull request against main.', after(['git log -1', 0])],
    ['a merge', 'I rebased it onto main.', after(['git fetch', 0])],
    ['a bare make', 'It builds with `make`.', after(['make clean', 0])],
    ['a run of something unnamed', 'Wrote the script in `main.go`. I ran it once.', CHANGED],
    ['another check beside one that ran', 'Tests pass, lint ok.', after(['go test ./...', 0])],
    [
      'a checker that was pointed at the script',
      'I ran `sh up.sh -n`.',
      after(['shellcheck up.sh', 0]),
    ],
    [
      'success beside a failure of another check',
      'Lint is clean. `go test ./...`: 2 failed.',
      after(['npm run lint', 1], ['go test ./...', 1]),
    ],
    ['done, with code below it', 'I added the helper:\n\n```go\nfunc f() {}\n```', {}],
    [
      'an install that was asked for',
      'Dependencies are installed.',
      { prompt: 'Install the dependencies' },
    ],
  ])('%s', (_, answer, facts) => {
    expect(checkClaims(answer, { ...LOOKED_ONLY, ...facts })).toHaveLength(1);
  });
});

describe('a report is believed', () => {
  it.each<Row>([
    [
      'of a file that was read and is told of',
      '`old.go` calls it.',
      { ...CHANGED, read: ['/ws/old.go'] },
    ],
    ['of where something was taken from', 'I took the pattern from `old.go`.', CHANGED],
    ['of where the trouble is', 'The same typo is in `old.go`.', CHANGED],
    ['of what is left alone', '`old.go` has one, too, which I left alone.', CHANGED],
    ['where it was given up', '`old.go` opens it twice. I did not get to a fix.', {}],
    ['of commits of others', 'It was pushed by Ada last year.', after(['git log', 0])],
    ['of no commit', 'I have not committed it.', after(['git status', 0])],
    ['of what a script commits', 'The script bumps the version, commits and tags it.', CHANGED],
    ['of a release by a tool', 'I tagged it and pushed.', after(['npx release-it', 0])],
    ['of a failure', '`terraform plan` asks for a token.', after(['terraform plan', 1])],
    [
      'of one run where another failed',
      '`go test ./a` passes.',
      after(['go test ./a', 0], ['go test ./b', 1]),
    ],
    ['of a target where make has another', '`make` stops when linking.', after(['make', 2])],
    ['of no run', 'I ran no tests.', CHANGED],
    [
      'of a review with a run',
      'All is well, 9 tests passed.',
      { ...after(['go test', 0]), changed: [], prompt: 'Review the tests, run them too' },
    ],
    ['of parameters', 'Passing `-v` is supported there.', CHANGED],
    ['of a place that is full', 'The pool in `db.go` is exhausted.', CHANGED],
  ])('%s', (_, answer, facts) => {
    expect(checkClaims(answer, { ...LOOKED_ONLY, ...facts })).toEqual([]);
  });
});
