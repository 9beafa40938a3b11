import { KEYS } from './emulator.ts';
import type { Stage } from './stage.ts';

/** What a person sees at a moment of a conversation. */
export interface Scene {
  /** For the command line, and names of files. */
  readonly name: string;
  readonly play: (stage: Stage) => Promise<void> | void;
}

/** The sizes on which every scene is held. */
export const SIZES: readonly (readonly [number, number])[] = [
  [80, 24],
  [40, 12],
  [60, 20],
  [120, 40],
  [200, 60],
  [300, 80],
];

const MARKDOWN = `# What I found

The limit is in \`src/retry.ts\`, **three** times:

1. in the loop
2. in the test

\`\`\`ts
export const RETRIES = 3;
\`\`\`

| file | line |
|---|---|
| retry.ts | 4 |`;

export const streaming: Scene = {
  name: 'streaming',
  play: async (stage) => {
    await stage.say('Where is the limit?');
    stage.ask('mainmain');
    stage.write('mainmain', { type: 'turn.accepted', turn: 1 });
    stage.pass(4_200);
    stage.signal({ type: 'text_delta', task: 'mainmain', text: MARKDOWN });
  },
};

/** Of a conversation that goes on: what it streams after `streaming`. */
export function streamOn(stage: Stage): void {
  stage.signal({ type: 'text_delta', task: 'mainmain', text: '\n| loop.ts | 9 |' });
}

const children: Scene = {
  name: 'children',
  play: async (stage) => {
    await stage.say('Bring our retries into one place');
    stage.answer('mainmain', 'Eight packages retry. One agent looks at each of them.');
    const calls = PACKAGES.map((name, index) => {
      const input = { description: `retries in ${name}`, prompt: 'look', subagent_type: 'Explore' };
      return { type: 'tool_call', id: `t${index}`, name: 'Task', input } as const;
    });
    stage.calls('mainmain', calls);
    for (const [index, name] of PACKAGES.entries()) {
      const isQueued = index > 5;
      const description = `retries in ${name}`;
      const callId = `t${index}`;
      stage.begin(`child${index}xx`, { description, parent: 'mainmain', callId, isQueued });
      stage.pass(1_000);
    }
    stage.ask('child0xx');
    stage.call('child1xx', 'g', 'Grep', { pattern: 'retry' });
    stage.ask('child2xx');
    stage.write('child2xx', {
      type: 'turn.held',
      turn: 1,
      because: 'the rate limit of scripted',
      untilMs: null,
    });
    stage.answer('child3xx', 'It is in src/client/retry.ts:4, three times.');
    stage.end('child3xx');
    stage.result('mainmain', 't3', 'Task', 'It is in src/client/retry.ts:4, three times.');
    stage.end('child4xx', 'failed', 'the model is not there');
    stage.result('mainmain', 't4', 'Task', 'the model is not there', 'NOT_FOUND');
  },
};

const PACKAGES = ['api', 'auth', 'cache', 'client', 'jobs', 'mail', 'store', 'web'];

const nesting: Scene = {
  name: 'nesting',
  play: async (stage) => {
    await stage.say('Delegate on');
    stage.begin('child1xx', { agent: 'lead', description: 'the whole part', parent: 'mainmain' });
    stage.begin('child2xx', { description: 'half of it', parent: 'child1xx' });
    stage.begin('child3xx', { description: 'a quarter', parent: 'child2xx' });
    stage.begin('child4xx', { description: 'beside', parent: 'mainmain', background: true });
    stage.pass(65_000);
    stage.answer('child3xx', 'Nothing here.\nNor there.');
  },
};

export const question: Scene = {
  name: 'question',
  play: async (stage) => {
    await stage.say('Retry three times, and see that the tests pass');
    stage.call('mainmain', 'e', 'Edit', {
      file_path: 'src/retry.ts',
      old_string: 'export const RETRIES = 6;',
      new_string: '/** After the first try. */\nexport const RETRIES = 3;',
    });
    stage.result('mainmain', 'e', 'Edit', 'src/retry.ts was changed');
    stage.begin('child1xx', {
      agent: 'general-purpose',
      description: 'run the tests',
      parent: 'mainmain',
      background: true,
    });
    stage.answer('mainmain', 'I have the tests run in the background, and read on meanwhile.');
    stage.call('child1xx', 'b', 'Bash', { command: 'npm test -- --watch=false' });
    stage.question('child1xx', 'b');
  },
};

const transcript: Scene = {
  name: 'transcript',
  play: async (stage) => {
    await stage.say('Look');
    stage.begin('child1xx', { description: 'look around', parent: 'mainmain' });
    stage.call('child1xx', 'g', 'Grep', { pattern: 'retry' });
    stage.result('child1xx', 'g', 'Grep', 'src/retry.ts:4\nsrc/loop.ts:9');
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, KEYS.enter);
    stage.answer('child1xx', 'It is in **retry.ts**.', 'Two places; the first one decides.');
  },
};

const error: Scene = {
  name: 'error',
  play: async (stage) => {
    await stage.say('Go');
    stage.call('mainmain', 'r', 'Read', { file_path: 'src/none.ts' });
    stage.result('mainmain', 'r', 'Read', 'there is no file src/none.ts', 'NOT_FOUND');
    stage.ask('mainmain');
    stage.write('mainmain', {
      type: 'turn.failed',
      turn: 2,
      failure: { kind: 'auth', message: 'scripted: the key is wrong', retryable: false },
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    });
    stage.end('mainmain', 'failed', 'scripted: the key is wrong');
  },
};

const work: Scene = {
  name: 'work',
  play: async (stage) => {
    await stage.say('Raise the limit, and run the tests');
    const list = ['Find the limit', 'Raise the limit', 'Run the tests'];
    const items = list.map((content, index) => {
      const status = index < 2 ? 'completed' : 'in_progress';
      return { content, status } as const;
    });
    stage.call('mainmain', 't', 'TodoWrite', { todos: items });
    stage.write('mainmain', { type: 'todos.set', items });
    stage.result('mainmain', 't', 'TodoWrite', 'Todo list: …');
    stage.call('mainmain', 'e', 'Edit', {
      file_path: 'src/retry.ts',
      old_string: 'const a = 1;\nconst limit = 3;\nuse(limit);',
      new_string: 'const a = 1;\nconst limit = 30;\nuse(limit);',
    });
    stage.result('mainmain', 'e', 'Edit', 'Edited src/retry.ts: 1 replacement at line 12.');
    stage.call('mainmain', 'b', 'Bash', { command: 'npm test' });
    const lines = ['retry.test.ts', '  ✓ sends again', '  ✓ gives up', '2 passed'];
    const progress = { task: 'mainmain', callId: 'b', tool: 'Bash', line: '2 passed', lines };
    stage.signal({ type: 'progress', ...progress });
  },
};

export const picker: Scene = {
  name: 'picker',
  play: async (stage) => {
    stage.app.session.dispatch({ type: 'run-command', name: 'agents', argument: '' });
    await stage.emulator.type('e');
  },
};

export const pager: Scene = {
  name: 'pager',
  play: async (stage) => {
    await stage.say('Write the notes');
    const notes = Array.from({ length: 90 }, (_, index) => `note ${index + 1}`).join('\n');
    stage.call('mainmain', 'w', 'Write', { file_path: 'notes.md', content: notes });
    stage.result('mainmain', 'w', 'Write', 'Created notes.md: 90 lines.');
    await stage.emulator.press(CTRL_S, 'v', '/');
    await stage.emulator.type('note 2');
    await stage.emulator.press(KEYS.enter);
  },
};

const CTRL_S = '\u0013';

/** Every scene; each is one conversation, with ids and times that are the same each time. */
export const SCENES: readonly Scene[] = [
  { name: 'start', play: () => {} },
  streaming,
  children,
  nesting,
  question,
  transcript,
  error,
  work,
];

/** The same, and what only a screen shows. */
export const SCREEN_SCENES: readonly Scene[] = [...SCENES, picker, pager];
