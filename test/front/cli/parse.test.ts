import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import { FLAG_NAMES, flagSpec } from '../../../src/front/cli/flags.ts';
import type { RunFlags, PromptOptions } from '../../../src/front/cli/run-options.ts';
import { parse } from './parse.ts';

const RUN: RunFlags = {
  prompt: null,
  resume: null,
  readsStdin: true,
  worktree: null,
  inputFormat: 'text',
  outputFormat: 'text',
  outputSchema: null,
  accept: [],
  verbose: false,
  debug: false,
  screenReader: false,
  log: true,
  agent: null,
  agents: null,
  maxTurns: null,
  addDirs: [],
  dataDir: null,
  cwd: null,
  trustProject: false,
  flags: [],
};
const TASKS = { json: false, dataDir: null };
const flag = (name: string, key: string, text: string) => ({ key, flag: `--${name}`, text });

/** The options of a run that needs no terminal UI. */
async function headlessRun(argv: readonly string[]): Promise<RunFlags> {
  const { words, options } = await parse(argv);
  const { isInteractive, run } = options as PromptOptions;
  if (words !== '' || isInteractive) throw new Error(`${argv.join(' ')} starts no run`);
  return run;
}

async function failure(argv: readonly string[]): Promise<string> {
  try {
    await parse(argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`${argv.join(' ')} was accepted`);
}

describe('a prompt', () => {
  it.each([
    [['-p', 'hi'], 'hi'],
    [['--print', 'hi'], 'hi'],
    [['--print=hi'], 'hi'],
    [['-phi'], 'hi'],
    [['hi', '-p'], 'hi'],
    [['-p', '--verbose', 'hi'], 'hi'],
    [['-p'], null],
    [['-p', '--', '- a\n- b'], '- a\n- b'],
    [['-p', '--', '--model'], '--model'],
    [['-p', '--', 'doctor'], 'doctor'],
    [['-p', 'doctor'], 'doctor'],
    [['doctor', '-p'], 'doctor'],
    [['-p', '--verbose', 'help'], 'help'],
    [['--print=--help'], '--help'],
    [['-p', 'x '], 'x '],
  ])('%j is %j', async (argv, prompt) => {
    expect(await headlessRun(argv)).toEqual({
      ...RUN,
      prompt,
      verbose: argv.includes('--verbose'),
    });
  });

  it.each([
    [['-p', ''], 'the prompt is empty'],
    [['-p', ' \n'], 'the prompt is empty'],
    [['-p', 'a', 'b'], 'more than one prompt ("a" and "b"); put quotes around the whole prompt'],
    [['-p', 'a', '-p', 'b'], /^more than one prompt/],
    [['-p', '- a'], /^"- a" is taken for a flag; a prompt that begins with a dash goes after --/],
    [
      ['fix', 'it'],
      /^unknown command "fix it"; .* A prompt of several words needs quotes, and one word needs -p: muster -p "fix it"$/,
    ],
    [['--output-format', 'json'], 'a run needs -p and a prompt: muster -p "…"'],
    [['--verbose'], 'a run needs -p and a prompt: muster -p "…"'],
  ])('%j is refused', async (argv, message) => {
    expect(await failure(argv)).toMatch(message);
  });
});

describe('a continued conversation', () => {
  it.each([
    [['--continue', '--verbose'], { resume: 'newest', verbose: true, readsStdin: false }],
    [['-p', '-c'], { prompt: null, resume: 'newest', readsStdin: true }],
    [['-r', '4f2k9x', '-p', 'go'], { prompt: 'go', resume: { id: '4f2k9x' }, readsStdin: true }],
  ])('%j', async (argv, expected) => {
    expect(await headlessRun(argv)).toEqual({ ...RUN, ...expected });
  });
});

describe('without -p', () => {
  it.each([
    [[], { resume: null }, false],
    [['and now?'], { prompt: 'and now?' }, false],
    [['-c', 'and now?'], { prompt: 'and now?', resume: 'newest' }, true],
    [['--resume', 'last', 'go'], { prompt: 'go', resume: 'newest' }, true],
    [['--model', 'x'], { flags: [flag('model', 'models.default', 'x')] }, true],
    [['--continue'], { resume: 'newest' }, true],
    [['--resume', '4f2k9x'], { resume: { id: '4f2k9x' } }, true],
    [['--resume'], { resume: null }, true],
  ])('%j opens the terminal UI', async (argv, expected, hasFlags) => {
    const run = { ...RUN, prompt: null, readsStdin: false, ...expected };
    const isChoosing = argv.length === 1 && argv[0] === '--resume';
    const options = { isInteractive: true, isChoosing, run, hasFlags };
    expect(await parse(argv)).toEqual({ words: '', options });
  });
});

it.each([
  [['-p', 'x', '--worktree'], { name: null }],
  [['-p', '--worktree', 'fix-login', 'x'], { name: 'fix-login' }],
  [['-p', 'x'], null],
])('%j chooses the place of the main agent', async (argv, worktree) => {
  expect(await headlessRun(argv)).toMatchObject({ prompt: 'x', worktree });
});

it.each([
  [['-p', '--worktree', 'a prompt'], 'a prompt goes before the flag'],
  [['-p', 'x', '--worktree', '--add-dir', 'a'], '--add-dir does not go with --worktree'],
  [['-p', 'x', '--worktree', '--resume', 'a'], '--worktree does not go with a conversation'],
])('%j is refused', async (argv, message) => {
  expect(await failure(argv)).toContain(message);
});

it('takes every flag of a run', async () => {
  const argv = [
    '-p',
    'hi',
    '--output-format',
    'stream-json',
    '--output-schema',
    'form.json',
    '--accept',
    'npm test',
    '--accept=make lint',
    '--verbose',
    '--debug',
    '--no-log',
    '--agent',
    'Plan',
    '--agents',
    '{"a":{}}',
    '--model',
    'acme/large',
    '--permission-mode=plan',
    '--allow',
    'A',
    '--allow',
    'B(x, y)',
    '--ask',
    'C',
    '--deny',
    'D',
    '--on-ask',
    'deny',
    '--max-turns',
    '3',
    '--max-tokens',
    '500',
    '--max-cost-usd',
    '0.25',
    '--max-seconds',
    '90',
    '--max-tasks',
    '7',
    '--trust-project',
    '--cwd',
    'work',
    '--add-dir',
    '../a',
    '--add-dir',
    '/b',
    '--data-dir',
    'data',
  ];
  expect(await headlessRun(argv)).toEqual({
    worktree: null,
    prompt: 'hi',
    resume: null,
    readsStdin: true,
    screenReader: false,
    inputFormat: 'text',
    outputFormat: 'stream-json',
    outputSchema: 'form.json',
    accept: ['npm test', 'make lint'],
    verbose: true,
    debug: true,
    log: false,
    agent: 'Plan',
    agents: { kind: 'json', text: '{"a":{}}' },
    maxTurns: 3,
    addDirs: ['../a', '/b'],
    dataDir: 'data',
    cwd: 'work',
    trustProject: true,
    flags: [
      flag('model', 'models.default', 'acme/large'),
      flag('permission-mode', 'permissions.mode', 'plan'),
      flag('allow', 'permissions.allow', 'A'),
      flag('allow', 'permissions.allow', 'B(x, y)'),
      flag('ask', 'permissions.ask', 'C'),
      flag('deny', 'permissions.deny', 'D'),
      flag('on-ask', 'permissions.on_ask', 'deny'),
      flag('max-tokens', 'budget.tree_tokens', '500'),
      flag('max-cost-usd', 'budget.tree_cost_usd', '0.25'),
      flag('max-seconds', 'budget.tree_wall_seconds', '90'),
      flag('max-tasks', 'task_tool.max_tasks', '7'),
    ],
  });
});

it('takes a file of agents', async () => {
  expect(await headlessRun(['-p', 'x', '--agents', '@a.json'])).toMatchObject({
    agents: { kind: 'file', path: 'a.json' },
  });
});

describe('a command', () => {
  const place = { cwd: null, trustProject: false };
  const agents = { ...place, json: false, dataDir: null };
  it.each([
    [['skills', 'list'], { words: 'skills list', json: false, ...place, dir: null, dataDir: null }],
    [
      ['skills', 'check', '--json', '--dir', 'd', '--data-dir', 'data'],
      { words: 'skills check', json: true, ...place, dir: 'd', dataDir: 'data' },
    ],
    [['agents', 'list'], { words: 'agents list', ...agents, verbose: false, dir: null }],
    [
      ['--json', 'agents', '--dir', 'd', 'list', '--trust-project', '--cwd', 'c', '--verbose'],
      {
        words: 'agents list',
        json: true,
        cwd: 'c',
        trustProject: true,
        dataDir: null,
        verbose: true,
        dir: 'd',
      },
    ],
    [
      ['agents', 'show', 'A', '--data-dir', 'd'],
      { words: 'agents show', ...agents, dataDir: 'd', name: 'A' },
    ],
    [
      ['agents', 'check'],
      { words: 'agents check', ...agents, names: [], strict: false, dir: null },
    ],
    [
      ['agents', 'check', 'A', 'b.md', '--strict', '--dir', 'd'],
      { words: 'agents check', ...agents, names: ['A', 'b.md'], strict: true, dir: 'd' },
    ],
    [
      ['agents', 'explain', 'A', '--parent-mode', 'plan', '--deny', 'B', '--add-dir', 'd'],
      {
        words: 'agents explain',
        ...agents,
        name: 'A',
        flags: [
          flag('parent-mode', 'permissions.mode', 'plan'),
          flag('deny', 'permissions.deny', 'B'),
        ],
        addDirs: ['d'],
      },
    ],
    [
      ['agents', 'new'],
      {
        words: 'agents new',
        ...agents,
        name: null,
        description: null,
        tools: null,
        model: null,
        mode: null,
        prompt: null,
        promptFile: null,
        from: null,
        to: 'project',
        force: false,
      },
    ],
    [
      ['agents', 'new', 'A', '--from', 'B', '--prompt-file', 'p', '--to', 'user', '--force'],
      {
        words: 'agents new',
        ...agents,
        name: 'A',
        description: null,
        tools: null,
        model: null,
        mode: null,
        prompt: null,
        promptFile: 'p',
        from: 'B',
        to: 'user',
        force: true,
      },
    ],
    [
      ['agents', 'import', 'a.md', 'B', '--name', 'C'],
      {
        words: 'agents import',
        ...agents,
        names: ['a.md', 'B'],
        dir: null,
        to: 'project',
        name: 'C',
        force: false,
      },
    ],
    [
      ['tasks', 'list', '--json'],
      { words: 'tasks list', json: true, dataDir: null, all: false, status: [], here: false },
    ],
    [
      ['tasks', 'list', '--all', '--here', '--status', 'failed', '--status=partial'],
      {
        words: 'tasks list',
        json: false,
        dataDir: null,
        all: true,
        status: ['failed', 'partial'],
        here: true,
      },
    ],
    [
      ['tasks', 'show', 'ab'],
      { words: 'tasks show', json: false, dataDir: null, id: 'ab', html: null, force: false },
    ],
    [
      ['tasks', 'show', 'ab', '--html', '-', '--force'],
      { words: 'tasks show', json: false, dataDir: null, id: 'ab', html: '-', force: true },
    ],
    [
      ['tasks', 'log', '--data-dir', 'd', 'ab'],
      { words: 'tasks log', json: false, dataDir: 'd', id: 'ab', from: 0 },
    ],
    [['tasks', 'log', 'ab', '--from', '7'], { ...TASKS, words: 'tasks log', id: 'ab', from: 7 }],
    [['tasks', 'watch'], { ...TASKS, words: 'tasks watch', id: null, from: null }],
    [
      ['tasks', 'watch', 'ab', '--from', '7'],
      { ...TASKS, words: 'tasks watch', id: 'ab', from: 7 },
    ],
    [['tasks', 'watch', 'ab'], { ...TASKS, words: 'tasks watch', id: 'ab', from: null }],
    [['tasks', 'stop', 'ab'], { ...TASKS, words: 'tasks stop', id: 'ab', because: null }],
    [
      ['tasks', 'stop', 'ab', '--because', 'so it is'],
      { ...TASKS, words: 'tasks stop', id: 'ab', because: 'so it is' },
    ],
    [['tasks', 'background', 'ab'], { ...TASKS, words: 'tasks background', id: 'ab' }],
    [
      ['tasks', 'export', 'ab'],
      { ...TASKS, words: 'tasks export', id: 'ab', file: null, force: false, format: 'muster' },
    ],
    [
      ['tasks', 'export', 'ab', 'f', '--force', '--format', 'atif'],
      { ...TASKS, words: 'tasks export', id: 'ab', file: 'f', force: true, format: 'atif' },
    ],
    [['tasks', 'import', '-'], { ...TASKS, words: 'tasks import', file: '-' }],
    [['tasks', 'delete', 'ab', 'cd'], { ...TASKS, words: 'tasks delete', ids: ['ab', 'cd'] }],
    [['tasks', 'prune'], { ...TASKS, words: 'tasks prune', days: null }],
    [['tasks', 'prune', '--days', '0'], { ...TASKS, words: 'tasks prune', days: 0 }],
    [
      ['tasks', 'resume', 'ab'],
      {
        words: 'tasks resume',
        dataDir: null,
        id: 'ab',
        run: { ...RUN, resume: { id: 'ab' } },
        flagsOfRun: [],
      },
    ],
    [
      ['tasks', 'send', 'ab', '--json', '--deny', 'X', '--max-turns', '2', '--', '- text'],
      {
        words: 'tasks send',
        dataDir: null,
        id: 'ab',
        run: {
          ...RUN,
          prompt: '- text',
          resume: { id: 'ab' },
          outputFormat: 'json',
          maxTurns: 2,
          flags: [flag('deny', 'permissions.deny', 'X')],
        },
        flagsOfRun: ['--deny'],
      },
    ],
    [
      ['models', '--model', 'm'],
      {
        words: 'models',
        json: false,
        provider: null,
        search: null,
        isRefresh: false,
        ...place,
        flags: [flag('model', 'models.default', 'm')],
        dataDir: null,
      },
    ],
    [
      ['models', 'groq', '--search', 'gpt oss', '--refresh', '--json'],
      {
        words: 'models',
        json: true,
        provider: 'groq',
        search: 'gpt oss',
        isRefresh: true,
        ...place,
        flags: [],
        dataDir: null,
      },
    ],
    [
      ['config', 'show', '--deny', 'A'],
      {
        words: 'config show',
        json: false,
        ...place,
        flags: [flag('deny', 'permissions.deny', 'A')],
        dataDir: null,
      },
    ],
    [['doctor'], { words: 'doctor', json: false, ...place, flags: [], dataDir: null, probe: null }],
    [
      ['doctor', '--provider', 'http://h/v1', '--api-key-env', 'ACME_KEY', '--write', '-y'],
      {
        words: 'doctor',
        json: false,
        ...place,
        flags: [],
        dataDir: null,
        probe: {
          provider: 'http://h/v1',
          model: null,
          apiKeyEnv: 'ACME_KEY',
          isWritten: true,
          isConfirmed: true,
        },
      },
    ],
    [
      ['doctor', '--provider', 'groq', '--model', 'm'],
      {
        words: 'doctor',
        json: false,
        ...place,
        flags: [{ key: 'models.default', flag: '--model', text: 'm' }],
        dataDir: null,
        probe: {
          provider: 'groq',
          model: 'm',
          apiKeyEnv: null,
          isWritten: false,
          isConfirmed: false,
        },
      },
    ],
  ])('%j', async (argv, { words, ...options }) => {
    expect(await parse(argv)).toEqual({ words, options });
  });

  it.each([[['--version']], [['-v']]])('%j asks for the version', async (argv) => {
    expect(await parse(argv)).toEqual({ words: '--version', options: {} });
  });
});

/** The flags whose value may be left out. */
const OPTIONAL: ReadonlySet<string> = new Set(['print', 'resume', 'worktree']);

describe('an error names the wrong argument and what is valid', () => {
  it.each([
    [['-p', 'x', '--modl', 'y'], /^unknown flag --modl; valid, nearest first: --model, /],
    [['-p', 'x', '--modl=secret'], /^unknown flag --modl; valid/],
    [['-p', 'x', '-z'], /^unknown flag -z; valid/],
    [['-p', 'x', '--continue', '--resume', 'a'], /^--continue and --resume name two/],
    [['-p', 'x', '--continue', '--agent', 'Plan'], /^--agent does not go with a conversation/],
    [['-p', 'x', '--continue', '--no-log'], /^--no-log does not go with a conversation/],
    [['--resume', '-p', 'x'], /^--resume needs an ID here: `muster tasks list --here`/],
    [['--resume', '--continue'], /^--continue and --resume name two conversations/],
    [['tasks', 'delete'], 'muster tasks delete needs ID…: muster tasks delete ID…'],
    [['tasks', 'stop', 'a', 'b'], /^muster tasks stop does not take "b"/],
    [['tasks', 'send', 'a', ' '], 'the message is empty'],
    [['tasks', 'resume', 'a', 'b', '--agent', 'Plan'], /^--agent does not go with muster tasks/],
    [
      ['tasks', 'send', 'a', 'b', '--json', '--output-format', 'text'],
      '--json does not go with --output-format "text"',
    ],
    [['tasks', 'list', '--status', 'done'], /^--status must be one of queued, running, .*"done"$/],
    [['tasks', 'prune', '--days', '-1'], /^--days must be a whole number of at least 0, not "-1"/],
    [['-p', 'x', '--no-log=1'], '--no-log takes no value'],
    [['-p', 'x', '--model'], '--model needs a value'],
    [['-p', 'x', '--model', ''], '--model needs a value: --model MODEL'],
    [['-p', 'x', '--model', '--verbose'], '--model needs a value: --model MODEL'],
    [['--model', '-p', 'x'], /^unknown command "x"/],
    [['-p', 'x', '--json'], /^--json does not go with muster -p; valid, nearest first: /],
    [
      ['-p', '--input-format', 'stream-json'],
      '--input-format stream-json needs --output-format stream-json, because each message has its own result',
    ],
    [
      ['-p', 'hi', '--input-format', 'stream-json', '--output-format', 'stream-json'],
      '--input-format stream-json reads the messages from stdin; write the prompt there, as {"type":"user","text":"hi"}',
    ],
    [
      ['--continue', '--input-format', 'stream-json', '--output-format', 'stream-json'],
      '--input-format stream-json needs -p',
    ],
    [
      ['tasks', 'watch', '--from', '2'],
      '--from counts the events of one task: muster tasks watch ID --from N',
    ],
    [
      ['-p', 'x', '--output-format', 'xml'],
      '--output-format must be one of text, json, stream-json, not "xml"',
    ],
    [['-p', 'x', '--max-turns', '0'], '--max-turns must be a whole number of at least 1, not "0"'],
    [['-p', 'x', '--max-turns', '-1'], /^--max-turns must be a whole number/],
    [['-p', 'x', '--max-turns', '1.5'], /^--max-turns must be a whole number/],
    [['-p', 'x', '--max-turns', '0x10'], /^--max-turns must be a whole number/],
    [
      ['-p', 'x', '--max-tokens', '1e3'],
      /^--max-tokens must be a whole number from 1 to \d+, not "1e3"$/,
    ],
    [
      ['-p', 'x', '--max-tokens', '-5'],
      /^--max-tokens must be a whole number from 1 to \d+, not "-5"$/,
    ],
    [['-p', 'x', '--max-tokens', '0'], '--max-tokens must be above 0; leave it out for no limit'],
    [
      ['-p', 'x', '--max-cost-usd', '-1'],
      /^--max-cost-usd must be a number above 0, and at most \d+, not "-1"$/,
    ],
    [['-p', 'x', '--max-cost-usd', 'Infinity'], /^--max-cost-usd must be a number/],
    [
      ['-p', 'x', '--max-cost-usd', '0.0'],
      '--max-cost-usd must be above 0; leave it out for no limit',
    ],
    [
      ['-p', 'x', '--permission-mode', 'yolo'],
      /^--permission-mode must be one of plan, default, acceptEdits, autonomous, not "yolo"$/,
    ],
    [
      ['-p', 'x', '--permission-mode', 'dontAsk'],
      /refuse whatever would ask.*run everything without asking/,
    ],
    [['-p', 'x', '--on-ask', 'wait'], /^--on-ask must be one of deny, park/],
    [['tasks', 'answer', 'ab', '--scope', 'task'], /^--scope and --reason go with an answer/],
    [
      ['tasks', 'answer', 'ab', 'always', '--scope', 'all'],
      /^--scope must be one of task, project/,
    ],
    [['tasks', 'answer', 'ab', ' '], 'the answer is empty'],
    [['-p', 'x', '--agents', '{'], /^--agents is not JSON \([^\n]*\); a file is named as @FILE$/],
    [['-p', 'x', '--agents', '7'], '--agents must be a JSON object or array, not 7'],
    [['-p', 'x', '--agents', '@'], '--agents @ needs a file: --agents @FILE'],
    [
      ['agents'],
      '"agents" is not a command by itself; valid: agents list, agents show, agents check, agents explain, agents new, agents import',
    ],
    [['agents', 'show'], 'muster agents show needs NAME: muster agents show NAME'],
    [
      ['agents', 'new', 'a', '--prompt', 'x', '--prompt-file', 'y'],
      '--prompt and --prompt-file are two prompts; give one of them',
    ],
    [
      ['agents', 'explain', 'a', '--permission-mode', 'plan'],
      /^--permission-mode does not go with muster agents explain; valid, nearest first: /,
    ],
    [
      ['tasks', 'lst'],
      '"tasks lst" is not a command; did you mean tasks list? valid: tasks list, tasks show, tasks log, tasks context, tasks board, tasks watch, tasks stop, tasks resume, tasks send, tasks answer, tasks background, tasks trace, tasks rerun, tasks branch, tasks rewind, tasks diff, tasks apply, tasks discard, tasks export, tasks import, tasks delete, tasks prune',
    ],
    [
      ['agents', 'frobnicate'],
      '"agents frobnicate" is not a command; valid: agents list, agents show, agents check, agents explain, agents new, agents import',
    ],
    [
      ['docter'],
      /^unknown command "docter"; did you mean muster doctor\? muster help lists all\. /,
    ],
    [['contine'], /^unknown command "contine"; did you mean muster --continue\? /],
    [['resume'], /^unknown command "resume"; did you mean muster --resume\? /],
    [['tasks', 'show'], 'muster tasks show needs ID: muster tasks show ID'],
    [
      ['tasks', 'show', 'a', 'b'],
      'muster tasks show does not take "b"; see muster tasks show --help',
    ],
    [['doctor', '--write'], /^--write needs --provider URL\|NAME$/],
    [
      ['doctor', '--provider', 'groq', '--api-key-env', 'gsk_0123-4567'],
      /^--api-key-env must be the name of a variable, such as ACME_API_KEY$/,
    ],
    [['doctor', '--allow', 'A'], /^--allow does not go with muster doctor; valid/],
    [['tasks', 'list', '--jsn'], /^unknown flag --jsn; valid, nearest first: --json, --all, /],
    [['help', 'tsks'], /^unknown command "tsks"/],
    [['-p', 'x', '--\u001B[2J\nevil'], /^"--⟨U\+001B⟩\[2J\\nevil" is taken for a flag/],
  ])('%j', async (argv, expected) => {
    const message = await failure(argv);
    expect(message).toMatch(expected);
    expect(message).not.toContain('\n');
  });

  it.each(FLAG_NAMES.filter((name) => 'value' in flagSpec(name) && !OPTIONAL.has(name)))(
    '--%s without its value',
    async (name) => {
      expect(await failure(['-p', 'x', `--${name}`])).toBe(`--${name} needs a value`);
    },
  );
});

describe('muster run', () => {
  const TEMPLATE_RUN = {
    format: 'text',
    out: null,
    force: false,
    apply: false,
    debug: false,
    verbose: false,
    log: true,
    agents: null,
    addDirs: [],
    dataDir: null,
    cwd: null,
    trustProject: false,
    flags: [],
  };
  const TEMPLATE_START = { attempts: null, models: null, score: null };

  it.each([
    ['run --list --json', { action: { kind: 'list' }, format: 'json' }],
    [
      'run mend --items a.txt --max-turns 3 --agent Review',
      {
        action: {
          ...TEMPLATE_START,
          kind: 'start',
          template: 'mend',
          items: 'a.txt',
          agent: 'Review',
          maxTurns: 3,
        },
      },
    ],
    [
      'run best-of-n it --attempts 4 --models a,b --models c --score bench --apply',
      {
        action: {
          kind: 'start',
          template: 'best-of-n',
          items: ['it'],
          agent: null,
          maxTurns: null,
          attempts: 4,
          models: ['a', 'b', 'c'],
          score: 'bench',
        },
        apply: true,
      },
    ],
    ['run --continue', { action: { kind: 'continue', id: null, retryFailed: false } }],
    [
      'run --continue 4f2k9x --retry-failed --out r.csv',
      {
        action: { kind: 'continue', id: '4f2k9x', retryFailed: true },
        format: 'csv',
        out: 'r.csv',
      },
    ],
  ])('%s', async (line, expected) => {
    const options = { ...TEMPLATE_RUN, ...expected };
    expect(await parse(line.split(' '))).toEqual({ words: 'run', options });
  });

  it.each([
    ['run', 'muster run needs TEMPLATE'],
    ['run mend', 'muster run needs an item'],
    ['run --continue --items a', '--items does not go with a run that continues as it was started'],
    ['run mend --items a --retry-failed', '--retry-failed does not go with a new run'],
    ['run mend --items a --output-format xml', 'must be one of text, json, csv'],
    ['run a b --items c', '--items does not go with items on the command line'],
    ['run a b --models , --attempts 2', '--models names no model'],
    ['run a b --models x --model y', '--model does not go with --models'],
    ['run a b --attempts 0', '--attempts must be a whole number of at least 1'],
    ['run --continue a b', 'a run that continues has its items already'],
    ['run --continue --score x', '--score does not go with a run that continues'],
  ])('%s is refused', async (line, message) => {
    expect(await failure(line.split(' '))).toContain(message);
  });
});
