import { helpText } from '../../src/front/cli/help.ts';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { parseArgs } from '../../src/front/cli/args.ts';
import { COMMAND_KINDS, commandSpec } from '../../src/front/cli/command-table.ts';
import type { RunCommand } from '../../src/front/cli/command.ts';
import { FLAG_NAMES, flagSpec } from '../../src/front/cli/flags.ts';

const RUN: RunCommand = {
  kind: 'run',
  prompt: null,
  resume: null,
  readsStdin: true,
  outputFormat: 'text',
  outputSchema: null,
  verbose: false,
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

function failure(argv: readonly string[]): string {
  try {
    parseArgs(argv);
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
  ])('%j is %j', (argv, prompt) => {
    expect(parseArgs(argv)).toEqual({ ...RUN, prompt, verbose: argv.includes('--verbose') });
  });

  it.each([
    [['-p', ''], 'the prompt is empty'],
    [['-p', ' \n'], 'the prompt is empty'],
    [['-p', 'a', 'b'], 'more than one prompt ("a" and "b"); put quotes around the whole of it'],
    [['-p', 'a', '-p', 'b'], /^more than one prompt/],
    [['-p', '- a'], /^"- a" is taken for a flag; a prompt that begins with a dash goes after --/],
    [['fix it'], /^unknown command "fix it"; .* A prompt needs -p: muster -p "fix it"$/],
    [['--output-format', 'json'], 'a run needs -p and a prompt: muster -p "…"'],
    [['--verbose'], 'a run needs -p and a prompt: muster -p "…"'],
  ])('%j is refused', (argv, message) => {
    expect(failure(argv)).toMatch(message);
  });
});

describe('a conversation that goes on', () => {
  it.each([
    [['--continue', '--verbose'], { resume: 'newest', verbose: true, readsStdin: false }],
    [['-c', 'and now?'], { prompt: 'and now?', resume: 'newest', readsStdin: false }],
    [['-p', '-c'], { prompt: null, resume: 'newest', readsStdin: true }],
    [['--resume', 'last', 'go'], { prompt: 'go', resume: 'newest', readsStdin: false }],
    [['-r', '4f2k9x', '-p', 'go'], { prompt: 'go', resume: { id: '4f2k9x' }, readsStdin: true }],
  ])('%j', (argv, expected) => {
    expect(parseArgs(argv)).toEqual({ ...RUN, ...expected });
  });
});

describe('without a prompt', () => {
  it.each([
    [[], { resume: null }, false],
    [['--model', 'x'], { flags: [flag('model', 'models.default', 'x')] }, true],
    [['--continue'], { resume: 'newest' }, true],
    [['--resume', '4f2k9x'], { resume: { id: '4f2k9x' } }, true],
  ])('%j opens the terminal UI', (argv, expected, hasFlags) => {
    const run = { ...RUN, prompt: null, readsStdin: false, ...expected };
    expect(parseArgs(argv)).toEqual({ kind: 'interactive', run, hasFlags });
  });
});

it('takes every flag of a run', () => {
  const argv = [
    '-p',
    'hi',
    '--output-format',
    'stream-json',
    '--output-schema',
    'form.json',
    '--verbose',
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
    '--max-wall-seconds',
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
  expect(parseArgs(argv)).toEqual({
    kind: 'run',
    prompt: 'hi',
    resume: null,
    readsStdin: true,
    screenReader: false,
    outputFormat: 'stream-json',
    outputSchema: 'form.json',
    verbose: true,
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
      flag('max-wall-seconds', 'budget.tree_wall_seconds', '90'),
      flag('max-tasks', 'task_tool.max_tasks', '7'),
    ],
  });
});

it('takes a file of agents', () => {
  expect(parseArgs(['-p', 'x', '--agents', '@a.json'])).toMatchObject({
    agents: { kind: 'file', path: 'a.json' },
  });
});

describe('a command', () => {
  const place = { cwd: null, trustProject: false };
  const agents = { ...place, json: false, dataDir: null };
  it.each([
    [['skills', 'list'], { kind: 'skills-list', json: false, ...place, dir: null, dataDir: null }],
    [
      ['skills', 'check', '--json', '--dir', 'd', '--data-dir', 'data'],
      { kind: 'skills-check', json: true, ...place, dir: 'd', dataDir: 'data' },
    ],
    [['agents', 'list'], { kind: 'agents-list', ...agents, verbose: false, dir: null }],
    [
      ['--json', 'agents', '--dir', 'd', 'list', '--trust-project', '--cwd', 'c', '--verbose'],
      {
        kind: 'agents-list',
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
      { kind: 'agents-show', ...agents, dataDir: 'd', name: 'A' },
    ],
    [['agents', 'check'], { kind: 'agents-check', ...agents, names: [], strict: false, dir: null }],
    [
      ['agents', 'check', 'A', 'b.md', '--strict', '--dir', 'd'],
      { kind: 'agents-check', ...agents, names: ['A', 'b.md'], strict: true, dir: 'd' },
    ],
    [
      ['agents', 'explain', 'A', '--parent-mode', 'plan', '--deny', 'B', '--add-dir', 'd'],
      {
        kind: 'agents-explain',
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
        kind: 'agents-new',
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
        kind: 'agents-new',
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
        kind: 'agents-import',
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
      { kind: 'tasks-list', json: true, dataDir: null, all: false, status: [], here: false },
    ],
    [
      ['tasks', 'list', '--all', '--here', '--status', 'failed', '--status=partial'],
      {
        kind: 'tasks-list',
        json: false,
        dataDir: null,
        all: true,
        status: ['failed', 'partial'],
        here: true,
      },
    ],
    [
      ['tasks', 'show', 'ab'],
      { kind: 'tasks-show', json: false, dataDir: null, id: 'ab', html: null, force: false },
    ],
    [
      ['tasks', 'show', 'ab', '--html', '-', '--force'],
      { kind: 'tasks-show', json: false, dataDir: null, id: 'ab', html: '-', force: true },
    ],
    [
      ['tasks', 'log', '--data-dir', 'd', 'ab'],
      { kind: 'tasks-log', json: false, dataDir: 'd', id: 'ab', from: 0 },
    ],
    [['tasks', 'log', 'ab', '--from', '7'], { ...TASKS, kind: 'tasks-log', id: 'ab', from: 7 }],
    [['tasks', 'watch'], { ...TASKS, kind: 'tasks-watch', id: null }],
    [['tasks', 'watch', 'ab'], { ...TASKS, kind: 'tasks-watch', id: 'ab' }],
    [['tasks', 'stop', 'ab'], { ...TASKS, kind: 'tasks-stop', id: 'ab', because: null }],
    [
      ['tasks', 'stop', 'ab', '--because', 'so it is'],
      { ...TASKS, kind: 'tasks-stop', id: 'ab', because: 'so it is' },
    ],
    [['tasks', 'background', 'ab'], { ...TASKS, kind: 'tasks-background', id: 'ab' }],
    [
      ['tasks', 'export', 'ab'],
      { ...TASKS, kind: 'tasks-export', id: 'ab', file: null, force: false },
    ],
    [
      ['tasks', 'export', 'ab', 'f', '--force'],
      { ...TASKS, kind: 'tasks-export', id: 'ab', file: 'f', force: true },
    ],
    [['tasks', 'import', '-'], { ...TASKS, kind: 'tasks-import', file: '-' }],
    [['tasks', 'delete', 'ab', 'cd'], { ...TASKS, kind: 'tasks-delete', ids: ['ab', 'cd'] }],
    [['tasks', 'prune'], { ...TASKS, kind: 'tasks-prune', days: null }],
    [['tasks', 'prune', '--days', '0'], { ...TASKS, kind: 'tasks-prune', days: 0 }],
    [
      ['tasks', 'resume', 'ab'],
      {
        kind: 'tasks-resume',
        dataDir: null,
        id: 'ab',
        run: { ...RUN, resume: { id: 'ab' } },
        flagsOfRun: [],
      },
    ],
    [
      ['tasks', 'send', 'ab', '--json', '--deny', 'X', '--max-turns', '2', '--', '- text'],
      {
        kind: 'tasks-send',
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
        kind: 'models',
        json: false,
        ...place,
        flags: [flag('model', 'models.default', 'm')],
        dataDir: null,
      },
    ],
    [
      ['config', 'show', '--deny', 'A'],
      {
        kind: 'config-show',
        json: false,
        ...place,
        flags: [flag('deny', 'permissions.deny', 'A')],
        dataDir: null,
      },
    ],
    [['doctor'], { kind: 'doctor', json: false, ...place, flags: [], dataDir: null }],
    [['--version'], { kind: 'version' }],
    [['-v'], { kind: 'version' }],
  ])('%j', (argv, expected) => {
    expect(parseArgs(argv)).toEqual(expected);
  });
});

describe('a mistake is named with what is valid', () => {
  it.each([
    [['-p', 'x', '--modl', 'y'], /^unknown flag --modl; valid, nearest first: --model, /],
    [['-p', 'x', '--modl=secret'], /^unknown flag --modl; valid/],
    [['-p', 'x', '-z'], /^unknown flag -z; valid/],
    [['-p', 'x', '--continue', '--resume', 'a'], /^--continue and --resume name two/],
    [['-p', 'x', '--continue', '--agent', 'Plan'], /^--agent does not go with a conversation/],
    [['-p', 'x', '--continue', '--no-log'], /^--no-log does not go with a conversation/],
    [['--resume'], '--resume needs a value'],
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
      '"tasks lst" is not a command; did you mean tasks list? valid: tasks list, tasks show, tasks log, tasks context, tasks watch, tasks stop, tasks resume, tasks send, tasks answer, tasks background, tasks rerun, tasks branch, tasks rewind, tasks export, tasks import, tasks delete, tasks prune',
    ],
    [
      ['agents', 'frobnicate'],
      '"agents frobnicate" is not a command; valid: agents list, agents show, agents check, agents explain, agents new, agents import',
    ],
    [['docter'], /^unknown command "docter"; valid: doctor, /],
    [['tasks', 'show'], 'muster tasks show needs ID: muster tasks show ID'],
    [
      ['tasks', 'show', 'a', 'b'],
      'muster tasks show does not take "b"; see muster tasks show --help',
    ],
    [['doctor', '--allow', 'A'], /^--allow does not go with muster doctor; valid/],
    [['tasks', 'list', '--jsn'], /^unknown flag --jsn; valid, nearest first: --json, --all, /],
    [['help', 'tsks'], /^unknown command "tsks"/],
    [['-p', 'x', '--\u001B[2J\nevil'], /^"--⟨U\+001B⟩\[2J\\nevil" is taken for a flag/],
  ])('%j', (argv, message) => {
    const said = failure(argv);
    expect(said).toMatch(message);
    expect(said).not.toContain('\n');
  });

  it.each(FLAG_NAMES.filter((name) => 'value' in flagSpec(name) && name !== 'print'))(
    '--%s without its value',
    (name) => {
      expect(failure(['-p', 'x', `--${name}`])).toBe(`--${name} needs a value`);
    },
  );
});

describe('help', () => {
  const helpOf = (...argv: string[]) => {
    const command = parseArgs(argv);
    return command.kind === 'help' ? helpText(command.topic) : `not help but ${command.kind}`;
  };

  it('of the program', () => {
    expect(helpOf('--help')).toMatchSnapshot();
  });

  it('of a command', () => {
    expect(helpOf('tasks', 'show', '--help')).toMatchSnapshot();
  });

  it('of a group of commands', () => {
    expect(helpOf('tasks', '--help')).toMatchSnapshot();
  });

  it('is the same, however it is asked for', () => {
    expect([helpOf('-h'), helpOf('help'), helpOf('-h', '--verbose')]).toEqual([
      helpOf('--help'),
      helpOf('--help'),
      helpOf('--help'),
    ]);
    expect(helpOf('help', 'tasks', 'show')).toBe(helpOf('tasks', 'show', '-h'));
    expect(helpOf('help', 'tasks')).toBe(helpOf('tasks', '--help'));
    expect(helpOf('-p', 'tasks', '--help')).toBe(helpOf('--help'));
  });

  it('says of a flag what it is to that command', () => {
    const line = (name: string, ...argv: string[]) =>
      new RegExp(`^ +(--${name} .*)$`, 'm').exec(helpOf(...argv))?.[1]?.replaceAll(/ +/g, ' ');
    expect([
      line('from', 'help', 'tasks', 'log'),
      line('from', 'help', 'agents', 'new'),
      line('force', 'help', 'agents', 'new'),
      line('force', 'help', 'tasks', 'export'),
      line('verbose', 'help', 'agents', 'list'),
    ]).toEqual([
      '--from <N> the number of the event to begin with',
      '--from <NAME> the agent, or example (deepresearch, code), that it is made from; other',
      '--force replace files that are there',
      '--force replace FILE if it is there',
      '--verbose all that is known of each, and those whose name another one has',
    ]);
  });

  it('tells of every flag', () => {
    const commands = COMMAND_KINDS.map((kind) => commandSpec(kind).words);
    const text = [
      helpOf('--help'),
      ...commands.map((words) => helpOf('help', ...words.split(' '))),
    ].join();
    expect(FLAG_NAMES.filter((name) => !text.includes(`--${name}`))).toEqual([]);
  });
});

describe('muster run', () => {
  const RUN_TEMPLATE = {
    kind: 'run-template',
    format: 'text',
    out: null,
    force: false,
    verbose: false,
    log: true,
    agents: null,
    addDirs: [],
    dataDir: null,
    cwd: null,
    trustProject: false,
    flags: [],
  };

  it.each([
    ['run --list --json', { action: { kind: 'list' }, format: 'json' }],
    [
      'run mend --items a.txt --max-turns 3 --agent Review',
      {
        action: { kind: 'start', template: 'mend', items: 'a.txt', agent: 'Review', maxTurns: 3 },
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
  ])('%s', (line, expected) => {
    expect(parseArgs(line.split(' '))).toEqual({ ...RUN_TEMPLATE, ...expected });
  });

  it.each([
    ['run', 'muster run needs TEMPLATE'],
    ['run mend', 'muster run needs --items'],
    ['run --continue --items a', '--items does not go with a run that goes on as it began'],
    ['run mend --items a --retry-failed', '--retry-failed does not go with a new run'],
    ['run mend --items a --output-format xml', 'must be one of text, json, csv'],
    ['run a b --items c', 'muster run does not take "b"'],
  ])('%s is refused', (line, message) => {
    expect(() => parseArgs(line.split(' '))).toThrow(message);
  });
});
