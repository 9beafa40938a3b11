import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import type { TmuxTerminal } from '../e2e/tmux.ts';
import { bash } from '../e2e/world.ts';
import { delegate, isChild, roundsOf, run, send, typedText } from './story.ts';

/** A picture of the built program at one moment of a conversation. */
export interface RealScene {
  readonly name: string;
  readonly args?: readonly string[];
  /** Brings the program into the scene, at 80 × 24. */
  readonly play: (terminal: TmuxTerminal) => Promise<void>;
  /** The texts that are in view at every size. */
  readonly sees: readonly RegExp[];
  /** The texts that are in view in addition from 80 × 24 on. */
  readonly seesOn80: readonly RegExp[];
  /** The texts that are in view in addition from 120 × 40 on. */
  readonly seesOn120?: readonly RegExp[];
  /** Where the cursor is. Default: in the editor. */
  readonly cursor?: 'editor' | 'filter' | 'none';
}

/** The configuration for all scenes: agents may nest three deep. */
export const SCENE_CONFIG = '[task_tool]\nmax_depth = 3\n';

/** An agent that may delegate. */
export const LEAD = `---
name: lead
description: leads the work of others
tools: Task
---
Lead.
`;

export const SCENE_FILES = {
  'src/retry.ts': ['const a = 1;', 'const limit = 3;', 'use(limit);', 'done();', ''].join('\n'),
};

const ANSWER = `# What I found

The limit is in \`src/retry.ts\`, **three** times:

1. in the loop
2. in the test

| file | line |
|---|---|
| retry.ts | 4 |

\`\`\`diff
-const limit = 3;
+const limit = 30;
\`\`\``;

const PACKAGES = ['api', 'auth', 'cache', 'client', 'jobs', 'mail', 'store', 'web'];

const NEVER: Answer = { fault: { kind: 'hang' } };

const EDIT = {
  name: 'Edit',
  input: {
    file_path: 'src/retry.ts',
    old_string: 'const limit = 3;',
    new_string: 'const limit = 30;',
  },
};

const READ = { name: 'Read', input: { file_path: 'src/retry.ts' } };

const TODOS = {
  name: 'TodoWrite',
  input: {
    todos: [
      { content: 'Find the limit', status: 'completed' },
      { content: 'Raise the limit', status: 'completed' },
      { content: 'Run the tests', status: 'in_progress' },
    ],
  },
};

const TESTS = "printf '%s\\n' one two three 'all passed'; sleep 900";

/** The answers of the main agent by the message, one for each round of calls. */
const ROUNDS: Readonly<Record<string, readonly Answer[]>> = {
  'Where is the limit?': [{ text: ANSWER, fault: { kind: 'hang_after', afterEvents: 4 } }],
  'How was it raised?': [{ delayMs: 5_200, text: ANSWER }],
  'Bring our retries together': [
    {
      text: 'Eight packages retry.',
      toolCalls: PACKAGES.map((name) => delegate(`look at ${name}`, `retries in ${name}`)),
    },
  ],
  'Delegate it on': [{ toolCalls: [lead('lead the part', 'the whole part')] }],
  'Test all packages': [
    {
      toolCalls: Array.from({ length: 12 }, (_, index) =>
        delegate(`test package ${index}`, `test ${index}`),
      ),
    },
  ],
  'Raise the limit': [{ toolCalls: [READ] }, { toolCalls: [EDIT] }],
  'Look around': [
    { toolCalls: [delegate('look around', 'look around', { run_in_background: true })] },
  ],
  'Read a file': [
    { toolCalls: [{ name: 'Read', input: { file_path: 'src/none.ts' } }] },
    { fault: { kind: 'status', status: 401, message: 'the key is wrong' } },
  ],
  'Raise it and test it': [
    { toolCalls: [TODOS] },
    { toolCalls: [READ] },
    { toolCalls: [EDIT] },
    { toolCalls: [bash(TESTS)] },
  ],
  'Write the notes': [
    {
      toolCalls: [
        {
          name: 'Write',
          input: {
            file_path: 'notes.md',
            content: Array.from({ length: 90 }, (_, index) => `note ${index + 1}`).join('\n'),
          },
        },
      ],
    },
  ],
  'Plan the change': [
    {
      toolCalls: [
        {
          name: 'ExitPlanMode',
          input: { plan: '# Plan\n\n1. Raise the **limit**\n2. Run the tests' },
        },
      ],
    },
  ],
};

function lead(prompt: string, description: string) {
  return { name: 'Task', input: { prompt, description, subagent_type: 'lead' } };
}

/** Plays all scenes. */
export function sceneScript(request: RecordedRequest): Answer {
  if (isChild(request)) return childAnswer(request);
  return ROUNDS[typedText(request)]?.[roundsOf(request)] ?? { text: 'Done.' };
}

function childAnswer(request: RecordedRequest): Answer {
  const said = typedText(request);
  const isNew = toolResultRounds(request) === 0;
  if (said.includes('lead the part')) return { toolCalls: [lead('lead the half', 'half of it')] };
  if (said.includes('lead the half')) return { toolCalls: [delegate('the rest', 'a quarter')] };
  if (said.includes('test package')) return { toolCalls: [bash('npm test')] };
  if (said.includes('look around')) {
    const grep = { name: 'Grep', input: { pattern: 'limit' } };
    if (isNew) return { toolCalls: [grep] };
    const text = 'It is in **retry.ts**.';
    return { text, fault: { kind: 'hang_after', afterEvents: 4 } };
  }
  if (said.includes('look at api')) return { text: 'It is in src/api.ts:4.' };
  if (said.includes('look at web')) {
    return { fault: { kind: 'status', status: 400, message: 'the request is wrong' } };
  }
  return NEVER;
}

const EDITS = ['--permission-mode', 'acceptEdits'];

/** The main scenes. */
export const REAL_SCENES: readonly RealScene[] = [
  {
    name: 'start',
    play: async () => {},
    sees: [/Type what you want done\./, /\/help/],
    seesOn80: [/^Muster \d/, /^directory +\//m, /^model +anthropic\//m, /shift\+tab mode$/m],
  },
  {
    name: 'streaming',
    play: async (terminal) => {
      await send(terminal, 'Where is the limit?');
      await terminal.sees('+const limit = 30;');
    },
    sees: [/-const limit = 3;/, /\+const limit = 30;/, /main (?:streaming|stalled)/, /esc stop/],
    seesOn80: [/What I found/, /three times/, /^retry\.ts +│ +4/m],
    seesOn120: [/^> Where is the limit\?/m],
  },
  {
    name: 'end',
    play: async (terminal) => {
      await send(terminal, 'How was it raised?');
      await terminal.sees('worked for');
    },
    sees: [/\+const limit = 30;/, /worked for \d s/, /\$0\.0\d+ · \[default\]/],
    seesOn80: [/· worked for \d s · [\d.]+k tok · \$0\.\d+/, /What I found/],
  },
  {
    name: 'children',
    play: async (terminal) => {
      await send(terminal, 'Bring our retries together');
      await terminal.sees(/1 done, 1 failed/);
    },
    sees: [/8 × general-purpose: 1 done, 1 failed/, /● main waiting for \d/, /esc stop/],
    seesOn80: [/Eight packages retry\./, /general-purpose \w{6} retries in auth/],
  },
  {
    name: 'nesting',
    play: async (terminal) => {
      await send(terminal, 'Delegate it on');
      await terminal.sees('a quarter');
    },
    sees: [/● main waiting for 1/, /● lead .*the whole p/],
    seesOn80: [/^ {5}● lead \w{6} half of it/m, /^ {7}● general-purpose \w{6} a quarter/m],
  },
  {
    name: 'question of twelve',
    args: EDITS,
    play: async (terminal) => {
      await send(terminal, 'Test all packages');
      await terminal.sees('1 of 12');
    },
    sees: [/\? .*general-purpose.* Bash/, /│ npm test/],
    seesOn80: [/asks to run Bash/, /y once/, /answer all 12 similar alike/],
  },
  {
    name: 'question about an edit',
    play: async (terminal) => {
      await send(terminal, 'Raise the limit');
      await terminal.sees('asks to run Edit');
    },
    sees: [/asks to run Edit/, /src\/retry\.ts/],
    seesOn80: [/2 - const limit = 3;/, /2 \+ const limit = 30;/, /y once/],
  },
  {
    name: 'plan',
    args: ['--permission-mode', 'plan'],
    play: async (terminal) => {
      await send(terminal, 'Plan the change');
      await terminal.sees('asks to carry out this plan');
    },
    sees: [/asks to carry out this plan/, /\[plan\]/],
    seesOn80: [/1\. Raise the limit/, /2\. Run the tests/],
  },
  {
    name: 'transcript',
    play: async (terminal) => {
      await send(terminal, 'Look around');
      await terminal.sees(/bg look around/);
      terminal.press('C-t', 'Enter');
      await terminal.sees(/It is in retry\.ts\./);
    },
    sees: [/^← general-purpose \w{6}: look/m, /It is in retry\.ts\./, /← back/],
    seesOn80: [/✓ Grep limit +\d line/, /default · anthropic\/\S+$/m],
  },
  {
    name: 'error',
    play: async (terminal) => {
      await send(terminal, 'Read a file');
      await terminal.sees(/■ failed/);
    },
    sees: [/✗ error: /, /the key is wrong/, /■ failed/],
    seesOn80: [/✗ Read src\/none\.ts/],
  },
  {
    name: 'work',
    args: [...EDITS, '--allow', 'Bash'],
    play: async (terminal) => {
      await send(terminal, 'Raise it and test it');
      await terminal.sees('all passed\n');
    },
    sees: [/● Bash .*running|● main Bash/, /all passed/, /esc stop/],
    seesOn80: [/TodoWrite 2 of 3 done/, /2 - const limit = 3;/, /2 \+ const limit = 30;/],
  },
  {
    name: 'picker',
    play: async (terminal) => {
      await run(terminal, '/agents');
      await terminal.sees('▶');
      terminal.type('exp');
      await terminal.sees('▶ Explore');
    },
    sees: [/^Agents +1 match/, /▶ Explore +builtin/, /enter names it in the message/],
    seesOn80: [/esc closes/, /mode +plan/],
    cursor: 'filter',
  },
  {
    name: 'pager',
    args: EDITS,
    play: async (terminal) => {
      await send(terminal, 'Write the notes');
      await terminal.sees(/Done\.[^]*\/help/);
      terminal.press('C-s');
      await terminal.sees('v shows all');
      terminal.press('v');
      await terminal.sees('esc closes');
      terminal.type('/note 2');
      await terminal.sees('note 2');
      terminal.press('Enter');
      await terminal.sees('match 1 of 11');
    },
    sees: [/^Write notes\.md/, /note 2$/m, /match 1 of 11/],
    seesOn80: [/esc closes/, /note 20$/m],
    cursor: 'none',
  },
];
