import { describe, expect, it } from 'vitest';
import {
  completionOffer,
  isPlainWord,
} from '../../../../src/front/cli/commands/completion/candidates.ts';
import { offerText } from '../../../../src/front/cli/commands/completion/shells.ts';
import { typedWords, unquoted } from '../../../../src/front/cli/commands/completion/shells.ts';
import { commandFlags } from '../../../../src/front/cli/command.ts';
import { CLI_COMMANDS } from '../../../../src/front/cli/commands.ts';
import { promptCommand } from '../../../../src/front/cli/commands/prompt.ts';
import { PERMISSION_MODES } from '../../../../src/protocol/permission.ts';
import { TASK_STATUSES } from '../../../../src/protocol/result.ts';
import { TOOL_NAMES } from '../../../../src/protocol/tool-names.ts';

/** The words that are offered, and which paths. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { candidates, prefix, paths } = await completionOffer(words, {
    commands: CLI_COMMANDS,
    matching: 'prefix',
  });
  const texts = candidates.map(({ text }) => `${prefix}${text}`);
  return paths === null ? texts : [...texts, `(${paths})`];
}

const FIRST_WORDS = [...new Set(CLI_COMMANDS.map(({ words }) => words.split(' ')[0]))];
const PROMPT_FLAGS = commandFlags(promptCommand).map((name) => `--${name}`);
const MODELS = ['fast', 'balanced', 'powerful', 'auto', 'offline'];

describe('the candidates for the word at the cursor', () => {
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
    [['-'], PROMPT_FLAGS],
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
      ['project', 'user', '(directories)'],
    ],
    [['tasks', 'rewind', '4', '--to', ''], []],
    [['--cwd', ''], ['(directories)']],
    [['--data-dir=/t'], ['(directories)']],
    [['tasks', 'import', ''], ['(files)']],
    [['tasks', 'export', '4', ''], ['(files)']],
    [['trust', 'add', 'a', 'b', ''], ['(files)']],
    [['sandbox', '--', 'ls', '-l'], ['(files)']],
    [['agents', 'check', 'expl'], ['(files)']],
    [['agents', 'new', '--from', 'deep'], ['deepresearch']],
    [['agents', 'new', '--model', 'in'], ['inherit']],
    [['--resume', 'la'], ['last']],
    [
      ['tasks', 'answer', '4q1', ''],
      ['yes', 'no', 'always', 'edits', 'mode'],
    ],
    [['--allow', ''], TOOL_NAMES],
    [
      ['--on-ask', ''],
      ['deny', 'park'],
    ],
    [['schema', 're'], ['result']],
    [['--prompt', '--', '--mod'], ['--model']],
    [['-p', '--', '--mod'], []],
    [['-c', 'ta'], []],
    [['-r', '4', 'ta'], []],
    // A prompt cannot be guessed, and is no command.
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
});

it('a shell that filters candidates itself gets all of them, unless there are too many', async () => {
  const { candidates } = await completionOffer(['--permission-mode', 'EDITS'], {
    commands: CLI_COMMANDS,
    matching: 'by shell',
  });
  expect(candidates.map(({ text }) => text)).toEqual(PERMISSION_MODES);
});

describe('quotes are removed from a word', () => {
  it.each([
    ['plain', 'plain'],
    ["'a b'", 'a b'],
    ['"a b"', 'a b'],
    [String.raw`a\ b`, 'a b'],
    [String.raw`"a\"b\c\$"`, String.raw`a"b\c$`],
    [String.raw`'a\'b`, String.raw`a\b`],
    ['"open', 'open'],
    ["--model='op", '--model=op'],
    ['$(x)`y`', '$(x)`y`'],
    ['\\', ''],
    ['', ''],
  ])('%s', (word, text) => {
    expect(unquoted(word)).toBe(text);
  });

  it('that the shell has left in it', () => {
    const words = ['"a"', '"b'];
    expect(typedWords('bash', words)).toEqual(['a', 'b']);
    expect(typedWords('fish', words)).toEqual(['"a"', 'b']);
    expect(typedWords('zsh', words)).toEqual(words);
  });
});

it.each([
  ['Explore', true],
  ['plugin:über-agent', true],
  ['--model', true],
  ['ollama/qwen3:8b', true],
  ['', false],
  ['a b', false],
  ['$(x)', false],
  ['`x`', false],
  ['~x', false],
  ['=x', false],
  ['-x', false],
  ['x{a,b}', false],
  ["x'y", false],
  ['x"y', false],
  ['x;y', false],
  ['x\ny', false],
  ['x\u001by', false],
  ['x\u202ey', false],
  ['x*', false],
  ['x!y', false],
])('%j means itself in every shell: %s', (text, isPlain) => {
  expect(isPlainWord(text)).toBe(isPlain);
});

describe('an offer in the form that a shell reads', () => {
  const offer = {
    prefix: '--agent=',
    candidates: [{ text: 'a:b', about: 'does\tthis:\nand that' }],
    paths: null,
  } as const;

  it.each([
    ['bash', 'words\n--agent=a:b\n'],
    ['zsh', 'words\na\\:b:does this: and that\n'],
    ['fish', 'words\n--agent=a:b\tdoes this: and that\n'],
  ] as const)('%s', (shell, text) => {
    expect(offerText(shell, offer)).toBe(text);
    expect(offerText(shell, { ...offer, paths: 'files' })).toBe(text.replace('words', 'files'));
  });
});
