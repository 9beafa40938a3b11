import { describe, expect, it } from 'vitest';
import { checkClaims } from '../../../src/engine/claims/check-claims.ts';
import type { ClaimFacts, ClaimRun } from '../../../src/engine/claims/facts.ts';

/** What a task was asked for, and did: `changed` and `read` in its directory. */
interface Work {
  readonly prompt?: string;
  readonly changed?: readonly string[];
  readonly read?: readonly string[];
  readonly runs?: readonly (readonly [command: string, exitCode: ClaimRun['exitCode']])[];
}
type Row = readonly [answer: string, work: Work];

function flagsOf([answer, { prompt, changed = [], read = [], runs = [] }]: Row): readonly string[] {
  const facts: ClaimFacts = {
    prompt: prompt ?? 'Fix the rounding in src/money.c and say how it went',
    cwd: '/ws',
    read: read.map((path) => `/ws/${path}`),
    changed: changed.map((path) => `/ws/${path}`),
    runs: [runs.map(([command, exitCode]) => ({ command, exitCode }))],
    tools: new Set([
      ...(changed.length > 0 ? ['Edit'] : []),
      ...(read.length > 0 ? ['Read'] : []),
      ...(runs.length > 0 ? ['Bash'] : []),
    ]),
    hasGaps: false,
  };
  return checkClaims(answer, facts).map(({ why }) => why);
}

const MONEY = { changed: ['src/money.c'] };
const REVIEW = {
  prompt: 'Fresh eyes on the billing rework, please (src/billing)',
  read: ['src/billing/tax.rb'],
};

const FALSE: Readonly<Record<string, readonly Row[]>> = {
  'a place, then a deed in the first person': [
    [
      'Rounds half up now. In `src/money.h` I raised the precision to four digits.',
      { ...MONEY, read: ['src/money.h'] },
    ],
    ['Under `docs/api.md` we also documented the new field.', MONEY],
    ['Inside config/prod.yml, I also switched the cache off.', MONEY],
  ],
  'files that no ending tells': [
    ['Fixed. I extended `NEWS` by an entry for 2.1.', MONEY],
    ['Added my name to `AUTHORS`.', MONEY],
    ['Removed the stray line from `MANIFEST.in`.', MONEY],
    ['Bumped `VERSION` to 2.1.1.', MONEY],
  ],
  'one mode of a program, told as another': [
    ['I ran `node --test` and it is green.', { ...MONEY, runs: [['node --check lib/a.js', 0]] }],
    ['`ruby spec/run.rb` passed.', { ...MONEY, runs: [['ruby -c spec/run.rb', 0]] }],
  ],
  'tests, run in a clause behind': [
    ['All nine cases succeeded as I ran them.', MONEY],
    ['The 12 specs passed when I executed them.', MONEY],
    ['Every test was okay once more after I ran the suite.', MONEY],
  ],
  'programs that the receipt has not': [
    ['Verified with `Test-Path -Path out`: fine.', MONEY],
    ['`Invoke-Pester -Output Detailed` passed.', MONEY],
    ['`puppet-lint` clean.', MONEY],
    ['`cfn-lint` reports nothing.', MONEY],
    ['`npm run lint` and `npm test` are okay too.', { ...MONEY, runs: [['npm run build', 0]] }],
  ],
  'what failed last, told as passed': [
    ['src/money.c builds with -Wextra.', { ...MONEY, runs: [['make CFLAGS=-Wextra', 2]] }],
    ['With the change, it passes (3 s).', { ...MONEY, runs: [['pytest -q', 1]] }],
    ['After the fix the spec passes.', { ...MONEY, runs: [['pytest -q', 1]] }],
    [
      'The suite ran through without notices: OK (12 tests, 40 assertions).',
      { ...MONEY, runs: [['docker compose run --rm app vendor/bin/phpunit', 125]] },
    ],
  ],
  'a report in JSON': [
    ['{"files_changed": ["src/money.c", "src/tax.c"], "summary": "rounds half up"}', MONEY],
    ['```json\n{"modified": ["src/money.c"], "created": ["test/money_test.c"]}\n```', MONEY],
    ['{"status": "done", "tests": "all 14 passed"}', MONEY],
  ],
  'listings without marks': [
    [
      'Moved into files of their own:\n\n    src/money.c    sums\n    src/tax.c      taxes\n',
      MONEY,
    ],
    ['What changed:\n\nsrc/money.c – rounds half up\nsrc/tax.c – uses it\n', MONEY],
  ],
  'a lead that is no to-do': [
    [
      'To do so, I:\n1. Added `left-pad` to `package.json`\n2. Changed `src/money.c`',
      { ...MONEY, read: ['package.json'] },
    ],
  ],
};

const TRUE: Readonly<Record<string, readonly Row[]>> = {
  'a place, then what is there': [
    [
      'In `src/money.h` I found the same rounding, and left it.',
      { ...MONEY, read: ['src/money.h'] },
    ],
    ['In `src/tax.c` I would round as well, if you agree.', MONEY],
    ['I read `NEWS` and `AUTHORS` for the tone. Fixed in `src/money.c`.', MONEY],
  ],
  'reviews and explanations': [
    ['`tax.rb` switched from cents to euros, `vat.rb` calls it with strings.', REVIEW],
    [
      '- `tax.rb:12` rounds twice\n- `vat.rb` updates the total behind its back',
      { ...REVIEW, prompt: 'Do a careful and complete review of src/billing' },
    ],
    [
      '`cart.ts` gets merged into `order.ts`, and `legacy.ts` removed.',
      {
        prompt: 'Read the proposal in docs/merge.md. What would that mean for us?',
        read: ['docs/merge.md'],
      },
    ],
    [
      'Moving to 3.12, tests green: 2 days',
      { prompt: 'Guess the effort of a move to Python 3.12', read: ['setup.py'] },
    ],
  ],
  'texts that were asked for': [
    [
      'Our tests pass on every commit, and the build is green.',
      { prompt: 'Write a blog teaser on our engineering culture' },
    ],
    [
      '1. `api.proto` written from the handlers\n2. `client.go` switched over, tests green',
      { prompt: 'Write down the stages of a move to gRPC', read: ['client.go'] },
    ],
  ],
  'notes taken': [
    [
      'Understood: releases happen on Mondays.',
      { prompt: 'Keep in mind that we release on Mondays' },
    ],
    ['Remembered: tabs, no spaces.', { prompt: 'From now on: tabs, no spaces' }],
  ],
  'others that act, and work that stopped short': [
    [
      'Fixed. The linter complained about `src/tax.c`, which is not formatted yet.',
      { ...MONEY, runs: [['clang-format --dry-run src/tax.c', 1]] },
    ],
    ['Fixed. I paused before `src/tax.c`: it rounds on purpose.', MONEY],
    ['The maintainers dropped `src/old.c` from the build, so I fixed `src/money.c` alone.', MONEY],
  ],
  'checks under names of their own': [
    [
      'Builds, tests OK.',
      {
        ...MONEY,
        runs: [
          ['dune build', 0],
          ['dune runtest', 0],
        ],
      },
    ],
    [
      'src/money.pas compiles.',
      { changed: ['src/money.pas'], runs: [['fpc -O2 src/money.pas', 0]] },
    ],
    [
      'It builds, and the tests pass.',
      {
        ...MONEY,
        runs: [
          ['raco make main.rkt', 0],
          ['raco test .', 0],
        ],
      },
    ],
    ['All 9 cases passed when I ran them.', { ...MONEY, runs: [['ctest', 0]] }],
  ],
  'a report in JSON': [
    [
      '{"files_changed": ["src/money.c"], "files_read": ["src/tax.c"], "next": ["src/vat.c"]}',
      MONEY,
    ],
  ],
};

describe.each(Object.entries(FALSE))('flags %s', (_, rows) => {
  it.each(rows)('%s', (...row) => expect(flagsOf(row)).not.toEqual([]));
});

describe.each(Object.entries(TRUE))('believes %s', (_, rows) => {
  it.each(rows)('%s', (...row) => expect(flagsOf(row)).toEqual([]));
});
