import { describe, expect, it } from 'vitest';
import { joinBashWords } from '../../src/front/cli/commands/completion/bash-words.ts';
import { offerFor } from '../../src/front/cli/commands/completion/candidates.ts';
import { offerText } from '../../src/front/cli/commands/completion/shells.ts';
import { flagSource } from '../../src/front/cli/commands/completion/sources.ts';
import { COMMAND_KINDS, commandSpec, RUN } from '../../src/front/cli/command-table.ts';
import { FLAG_NAMES, flagSpec } from '../../src/front/cli/flags.ts';
import { PERMISSION_MODES } from '../../src/protocol/permission.ts';
import { TASK_STATUSES } from '../../src/protocol/result.ts';

/** The words that are offered, or where they come from. */
async function offered(...words: readonly string[]): Promise<readonly string[] | string> {
  const offer = await offerFor(words);
  if (offer.kind !== 'words') return offer.kind;
  return offer.candidates.map(({ text }) => `${offer.kept}${text}`);
}

const FIRST_WORDS = [
  ...new Set(COMMAND_KINDS.map((kind) => commandSpec(kind).words.split(' ')[0])),
];
const RUN_FLAGS = RUN.flags.map((name) => `--${name}`);
const MODELS = ['fast', 'balanced', 'powerful', 'auto', 'offline'];

describe('for the word at the cursor', () => {
  it.each([
    [[''], FIRST_WORDS],
    [['ta'], ['tasks']],
    [
      ['tasks', 's'],
      ['show', 'stop', 'send'],
    ],
    [['tasks', 'show', '4', ''], []],
    [['tasks', 'nonsense', ''], []],
    [['help', 'ta'], ['tasks']],
    [['help', 'tasks', 'sh'], ['show']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['--verbose', 'mod'], ['models']],
    [['-'], RUN_FLAGS],
    [['--out'], ['--output-format', '--output-schema']],
    [['tasks', '--'], ['--help']],
    [
      ['tasks', 'prune', '--d'],
      ['--days', '--data-dir'],
    ],
    [['tasks', 'list', '--status', ''], TASK_STATUSES],
    [['tasks', 'list', '--status=run'], ['--status=running']],
    [['-p', '--permission-mode', ''], PERMISSION_MODES],
    [['--model', 'p'], ['powerful']],
    [['--model='], MODELS.map((model) => `--model=${model}`)],
    [
      ['run', '--output-format', ''],
      ['text', 'json', 'csv'],
    ],
    [
      ['--output-format', ''],
      ['text', 'json', 'stream-json'],
    ],
    [
      ['agents', 'import', '--to', ''],
      ['project', 'user'],
    ],
    [['tasks', 'rewind', '4', '--to', ''], []],
    [['--cwd', ''], 'directories'],
    [['--data-dir=/t'], 'directories'],
    [['tasks', 'import', ''], 'files'],
    [['tasks', 'export', '4', ''], 'files'],
    [['trust', 'add', 'a', 'b', ''], 'files'],
    [['sandbox', '--', 'ls', '-l'], 'files'],
    // A prompt is nobody's to guess, and is no command.
    [['-p', ''], []],
    [['-p', 'tasks', ''], []],
    [['-p', 'tasks', '--verb'], ['--verbose']],
    [['--no-such-flag', ''], []],
    [['--json=', ''], []],
    [['--json='], []],
    [[], FIRST_WORDS],
  ])('%j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
  });

  it.each(FLAG_NAMES.filter((name) => flagSpec(name).value !== undefined))(
    'it is decided what --%s takes',
    (name) => {
      expect(flagSource(name, null)).toBeDefined();
    },
  );

  it.each(FLAG_NAMES.filter((name) => !('value' in flagSpec(name))))(
    '--%s takes nothing',
    (name) => {
      expect(flagSource(name, null)).toBeUndefined();
    },
  );
});

it.each([
  [[''], [''], 0],
  [['tasks', 'sh'], ['tasks', 'sh'], 0],
  [['--model', '=', ''], ['--model='], 8],
  [['--model', '='], ['--model='], 8],
  [['--model', '=', 'po'], ['--model=po'], 8],
  [['--model', '=', 'ollama/q', ':', '8', '--js'], ['--model=ollama/q:8', '--js'], 0],
  [['--model', '=', 'ollama/q', ':', '8'], ['--model=ollama/q:8'], 17],
  [['x', ':=', 'y'], ['x:=y'], 3],
  [['='], ['='], 1],
])('bash: %j are %j, %i of it kept', (pieces, words, kept) => {
  expect(joinBashWords(pieces)).toEqual({ words, kept });
});

describe('a candidate in the form of a shell', () => {
  const offer = {
    kind: 'words',
    kept: '--agent=',
    candidates: [{ text: 'a:b', about: 'does\tthis:\nand that' }],
  } as const;

  it.each([
    ['bash', 8, 'words\na:b\n'],
    ['bash', 0, 'words\n--agent=a:b\n'],
    ['zsh', 0, 'words\na\\:b:does this: and that\n'],
    ['fish', 0, 'words\n--agent=a:b\tdoes this: and that\n'],
  ] as const)('%s (%i kept)', (shell, kept, text) => {
    expect(offerText(shell, offer, kept)).toBe(text);
  });
});
