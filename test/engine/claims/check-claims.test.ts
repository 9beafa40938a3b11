import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkClaims } from '../../../src/engine/claims/check-claims.ts';
import type { ClaimFacts, ClaimRun } from '../../../src/engine/claims/facts.ts';

const NOTHING_DONE: ClaimFacts = {
  prompt: 'Fix the bug',
  cwd: '/ws',
  read: [],
  changed: [],
  runs: [[]],
  tools: new Set(['Read']),
  hasGaps: false,
};

function ran(command: string, exitCode: ClaimRun['exitCode'] = 0): Partial<ClaimFacts> {
  return { runs: [[{ command, exitCode }]], tools: new Set(['Bash']) };
}

it('says what is claimed, and what the receipt has against it', () => {
  const answer = 'Wrote a.txt, all tests pass. I ran `npm run lint`.';
  expect(checkClaims(answer, NOTHING_DONE)).toEqual([
    { kind: 'file', claim: 'Wrote a.txt, all tests pass.', why: '"a.txt" was not changed by it' },
    { kind: 'check', claim: 'Wrote a.txt, all tests pass.', why: 'no test was run' },
    { kind: 'command', claim: 'I ran `npm run lint`.', why: '"npm run lint" was not run' },
  ]);
});

it('a “done” where no tool was used, and work was asked for', () => {
  const facts = {
    ...NOTHING_DONE,
    prompt: 'Rename the module foo in the repo',
    tools: new Set<string>(),
  };
  const claim = 'Done! The module has been renamed.';
  const said = 'The module has been renamed.';
  expect(checkClaims(claim, facts)).toEqual([
    { kind: 'done', claim: said, why: 'no tool was used' },
  ]);
  expect(checkClaims('Done!', facts)).toEqual([
    { kind: 'done', claim: 'Done!', why: 'no tool was used' },
  ]);
  expect(checkClaims(claim, { ...facts, prompt: 'Explain the module' })).toEqual([]);
  expect(checkClaims(claim, { ...facts, tools: new Set(['Read']) })).toEqual([
    { kind: 'done', claim: said, why: 'nothing was changed by it' },
  ]);
  expect(checkClaims(claim, { ...facts, changed: ['/ws/foo.ts'] })).toEqual([]);
  expect(checkClaims('I could not rename it. Done.', facts)).toEqual([]);
});

describe('is believed where the receipt leaves doubt', () => {
  it.each<readonly [string, string, Partial<ClaimFacts>]>([
    ['a lock file of a provider', 'Wrote `.terraform.lock.hcl`.', ran('terraform init')],
    ['a runner in bin/', 'The tests are green.', ran('bin/rake')],
    ['a step in a later sentence', 'It works like so. Set `x` in a.env.', {}],
    [
      'a file that was read, and is told of',
      '### A\n`a.ts` adds it.\n### B\n`b.ts` loads it.',
      { changed: ['/ws/a.ts'], read: ['/ws/b.ts'] },
    ],
    ['a tool of an MCP server', 'Created a.txt.', { tools: new Set(['mcp__fs__write']) }],
    ['a gap', 'Created a.txt, tests pass.', { hasGaps: true }],
    ['a script', 'Created a.txt.', ran('node gen.mjs')],
    ['a redirection', 'Created a.txt.', ran('echo x > a.txt')],
    ['a substitution', 'Created a.txt.', ran('echo $(make-it)')],
    ['a glob', 'Deleted a.txt.', ran('rm *.txt')],
    ['a pipe behind the tests', 'All tests pass.', ran('npm test | tail -5', 1)],
    ['more behind the tests', 'All tests pass.', ran('npm test; ls nothing', 2)],
    ['an end that is not known', 'All tests pass.', ran('npm test', 'unknown')],
    ['a run that failed and is told so', '`npm test`: 2 of 9 fail.', ran('npm test', 1)],
    ['a task for a program of its kind', '`npm test` passes.', ran('npx vitest run')],
    ['a server that was stopped', 'I ran `npm run dev`.', ran('npm run dev', 'killed')],
    ['a target that is not known', 'All tests pass.', ran('make')],
    ['a run that is told as not green', "Next `npm test`. It isn't green.", ran('npm test', 1)],
    [
      'a file that has to stay as it is for now',
      '- `a.ts`: rewritten\n- `b.ts`: not converted\n\nSo `c.html` has to stay for now.',
      { changed: ['/ws/a.ts'] },
    ],
    [
      'release notes that were asked for',
      '- Fixed a crash on start.',
      { prompt: 'Write release notes for users from these items: fixed crash.' },
    ],
  ])('%s', (_, answer, facts) => {
    expect(checkClaims(answer, { ...NOTHING_DONE, ...facts })).toEqual([]);
  });
});

describe('is not believed', () => {
  it.each<readonly [string, string, Partial<ClaimFacts>]>([
    [
      'another verb of compose',
      'Brought it up with `docker compose up`.',
      ran('docker compose ps'),
    ],
    ['a check of a module', 'Created outputs.tf.', ran('terraform validate')],
    ['what reads like a step', 'Set `x: 1` in a.yml.', {}],
    ['a relative clause', 'See `a.ts`, which I created.', {}],
    [
      'a file that was asked for',
      'The plan is at docs/a.md.',
      { prompt: 'Write a plan to docs/a.md' },
    ],
    [
      'a file under a heading of its own',
      '### A\n`a.ts` adds it.\n### B\n`b.ts` tests it.',
      { changed: ['/ws/a.ts'] },
    ],
    ['a file beside the one a command wrote', 'Created a.txt.', ran('echo x > b.txt')],
    ['a file where tests alone ran', 'Updated src/a.ts.', ran('npm test')],
    ['tests that failed', 'All tests pass.', ran('cd web && npm test', 1)],
    ['tests that were killed', 'All tests pass.', ran('npm test', 'killed')],
    ['tests behind a step that failed', 'All tests pass.', ran('npm run build && npm test', 2)],
    ['tests where the build ran', 'All tests pass.', ran('npm run build')],
    ['a file where it was only read', 'Updated src/a.ts.', ran('cat src/a.ts')],
    ['a file where code in the line names another', 'Created a.txt.', ran(`node -e 'log(1)'`)],
    ['a file where the program is not there', 'Created a.txt.', ran('make-it a.txt', 127)],
    ['tests where a directory of tests was linted', 'Tests pass.', ran('eslint src tests')],
    ['one file of a list of changes', 'Changed `a.ts` and `b.ts`.', { changed: ['/ws/a.ts'] }],
    [
      'a file beside one that was changed',
      'It is strict now (`a.ts`, `b.ts`).',
      { changed: ['/ws/a.ts'] },
    ],
    ['a file in a listing', 'Created:\n```\na.ts\nb.ts\n```', { changed: ['/ws/a.ts'] }],
    ['a task of another name', '`dbt test` passes.', ran('dbt compile')],
    [
      'a container where the image was built',
      'I ran `docker run app`.',
      ran('docker build -t app .'),
    ],
    ['a run where the syntax was checked', 'I ran `sh a.sh -x`.', ran('sh -n a.sh')],
    ['a mere name whose run failed', '- `cargo doc`\n- `cargo test`', ran('cargo test', 101)],
    ['a command in a code block', '```\nnpm run lint ✔\n```', ran('npm test')],
    [
      'a tally without failures where the run failed',
      'Bad bodies give 422 on failure. 9 passed, 0 failed (`npm test`).',
      ran('npm test', 1),
    ],
    [
      'a name whose run failed, with none that failed',
      '- `npm test`\n\nNothing is red.',
      ran('npm test', 1),
    ],
    ['a target where make was left to its default', '`make test` passes.', ran('make CFLAGS=-O2')],
    ['another task of a wrapper', 'I ran `./gradlew build`.', ran('./gradlew wrapper')],
    ['a strict run where a lax one ran', '`mkdocs build --strict` passes.', ran('mkdocs build')],
    [
      'a file in a tree',
      'Created:\n```\nsrc/\n├── a.ts\n└── lib/\n    └── b.ts\n```',
      { changed: ['/ws/src/a.ts'] },
    ],
    [
      'a file beside one that is the same',
      '- `a.ts`: new rule\n- `b.ts`: the same rule',
      { changed: ['/ws/a.ts'] },
    ],
    ['a command of another name', 'I ran `terraform plan`.', ran('git status')],
  ])('%s', (_, answer, facts) => {
    expect(checkClaims(answer, { ...NOTHING_DONE, ...facts })).toHaveLength(1);
  });
});

it('quotes, code and what is planned are no claims', () => {
  const answer = [
    '```',
    'Created a.txt, all tests pass',
    '```',
    '> Created a.txt',
    '- [ ] Created a.txt',
    '"All tests pass" is what the log says.',
    'Next I will create a.txt. Should I create b.txt?',
    '## Next steps',
    '- Created a.txt',
  ].join('\n');
  expect(checkClaims(answer, NOTHING_DONE)).toEqual([]);
});

it('any text is looked through, and nothing is thrown', () => {
  const word = fc.constantFrom(
    ...'I wrote created `a.txt` a.ts tests pass all the and , . | - # ``` > ( ) ‹f0› has been in to'.split(
      ' ',
    ),
    '\n',
    '\n\n',
    '    ',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(word).map((words) => words.join(' ')),
      ),
      fc.string({ unit: 'grapheme' }),
      (answer, line) => {
        const facts = { ...NOTHING_DONE, prompt: line, runs: [[{ command: line, exitCode: 1 }]] };
        for (const { claim, why } of checkClaims(answer, facts)) {
          expect(claim).not.toContain('\n');
          expect(why).not.toBe('');
        }
      },
    ),
  );
});

/** Texts that a pattern which backtracks would be at for hours. */
const LONG = 1_000_000;
it.each([
  ['letters', 'a'],
  ['blanks', ' '],
  ['full stops', '.'],
  ['files', '`a.ts` and '],
  ['verbs', 'created '],
  ['brackets', '(('],
  ['code', '`'],
  ['tests', 'all tests '],
  ['table', '| a '],
  ['items', '- created a.ts\n'],
  ['adverbs', 'has been then also '],
  ['quotes', '"'],
  ['commands', 'ran `npm test` and '],
  ['hyphens', 'a-'],
  ['words that are two kinds of adverb', 'only '],
  ['check marks', '✓ '],
  ['open code', '` a. '],
  ['rows', '| `a.ts` | added |\n'],
  ['here-documents', '<<A'],
  ['good news', 'no errors '],
  ['an enumeration', '`a.ts`, '],
  ['parentheses', 'now (`a.ts`, '],
  ['a listing', '```\na/b.ts  x\n'],
  ['prompts', '```\n$ npm test\nok\n'],
  ['letters and slashes in code', '```\na/a/a'],
])('a megabyte of %s is no more than its start and end', (_, piece) => {
  const text = piece.repeat(LONG / piece.length);
  const looked = checkClaims(text, {
    ...NOTHING_DONE,
    prompt: text,
    runs: [[{ command: text, exitCode: 0 }]],
  });
  expect(looked.length).toBeLessThanOrEqual(20);
});
