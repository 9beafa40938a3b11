import { describe, expect, it } from 'vitest';
import { PLAIN, themeFor } from '../../src/front/tui/render/theme.ts';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';

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

/** What a person sees at a moment of a conversation. */
const MOMENTS: Readonly<Record<string, (stage: Stage) => Promise<void> | void>> = {
  start: () => {},
  streaming: async (stage) => {
    await stage.say('Where is the limit?');
    stage.ask('mainmain');
    stage.write('mainmain', { type: 'turn.accepted', turn: 1 });
    stage.pass(4_200);
    stage.signal({ type: 'text_delta', task: 'mainmain', text: MARKDOWN });
  },
  'eight parallel children': async (stage) => {
    await stage.say('Look everywhere');
    stage.call('mainmain', 'c', 'Task', { prompt: 'look', subagent_type: 'Explore' });
    for (let index = 0; index < 8; index += 1) {
      const id = `child${index}xx`;
      stage.begin(id, { description: `part ${index}`, parent: 'mainmain', isQueued: index > 5 });
      stage.pass(1_000);
    }
    stage.ask('child0xx');
    stage.call('child1xx', 'g', 'Grep', { pattern: 'retry' });
    stage.write('child2xx', {
      type: 'turn.started',
      turn: 1,
      inputs: [],
      model: 'm',
      toolChoice: 'auto',
    });
    stage.write('child2xx', {
      type: 'turn.held',
      turn: 1,
      because: 'the rate limit of scripted',
      untilMs: null,
    });
    stage.answer('child3xx', 'It is in retry.ts');
    stage.end('child3xx');
    stage.end('child4xx', 'failed', 'the model is not there');
  },
  'a nested tree': async (stage) => {
    await stage.say('Delegate on');
    stage.begin('child1xx', { agent: 'lead', description: 'the whole part', parent: 'mainmain' });
    stage.begin('child2xx', { description: 'half of it', parent: 'child1xx' });
    stage.begin('child3xx', { description: 'a quarter', parent: 'child2xx' });
    stage.begin('child4xx', { description: 'beside', parent: 'mainmain', background: true });
    stage.pass(65_000);
    stage.answer('child3xx', 'Nothing here.\nNor there.');
  },
  'a question from a background child': async (stage) => {
    await stage.say('Run the tests');
    stage.begin('child1xx', {
      agent: 'general-purpose',
      description: 'run the tests',
      parent: 'mainmain',
      background: true,
    });
    stage.answer('mainmain', 'I have the tests run, and go on.');
    stage.call('child1xx', 'b', 'Bash', { command: 'npm test -- --watch=false' });
    stage.question('child1xx', 'b');
  },
  'an open transcript': async (stage) => {
    await stage.say('Look');
    stage.begin('child1xx', { description: 'look around', parent: 'mainmain' });
    stage.call('child1xx', 'g', 'Grep', { pattern: 'retry' });
    stage.result('child1xx', 'g', 'Grep', 'src/retry.ts:4\nsrc/loop.ts:9');
    await stage.emulator.press(KEYS.ctrlT, KEYS.down, KEYS.enter);
    stage.answer('child1xx', 'It is in **retry.ts**.', 'Two places; the first one decides.');
  },
  'an error': async (stage) => {
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

const SIZES: readonly (readonly [number, number])[] = [
  [80, 24],
  [40, 12],
  [60, 20],
  [200, 50],
];

async function shot(moment: string, options: StageOptions): Promise<string> {
  await using stage = new Stage(options);
  await MOMENTS[moment]?.(stage);
  return await stage.screen();
}

describe.each(SIZES)('on %i × %i', (columns, rows) => {
  it.each(Object.keys(MOMENTS))('%s', async (moment) => {
    expect(await shot(moment, { columns, rows })).toMatchSnapshot();
  });
});

it.each(Object.keys(MOMENTS))('reads the same without colour: %s', async (moment) => {
  await using stage = new Stage({ theme: PLAIN });
  await MOMENTS[moment]?.(stage);
  expect(await stage.screen()).toBe(await shot(moment, {}));
  expect(stage.emulator.isPainted).toBe(false);
});

it('has colours where they are not refused', async () => {
  await using stage = new Stage();
  await stage.screen();
  expect(stage.emulator.isPainted).toBe(true);
  expect(themeFor({ NO_COLOR: '1' })).toBe(PLAIN);
});

it('fits anew when the terminal changes its size in the middle of it', async () => {
  await using stage = new Stage({ columns: 200, rows: 50 });
  await MOMENTS['streaming']?.(stage);
  await stage.screen();
  stage.emulator.resize(40, 12);
  expect(await stage.screen()).toBe(await shot('streaming', { columns: 40, rows: 12 }));
  stage.emulator.resize(200, 50);
  expect(await stage.screen()).toBe(await shot('streaming', { columns: 200, rows: 50 }));
});

it.each([
  [30, 8],
  [20, 6],
  [9, 5],
  [3, 3],
  [1, 1],
])('is drawn on %i × %i, too', async (columns, rows) => {
  for (const moment of Object.keys(MOMENTS)) {
    await using stage = new Stage({ columns, rows });
    await MOMENTS[moment]?.(stage);
    await stage.emulator.press(KEYS.ctrlO, KEYS.pageUp, KEYS.tab);
    expect((await stage.emulator.screen()).split('\n').length).toBe(rows);
  }
});

it('keeps wide and combining characters in their columns', async () => {
  await using stage = new Stage({ columns: 40, rows: 14 });
  await stage.say('日本語のテキストを四十桁の端末に折り返して表示する');
  stage.begin('child1xx', { description: '広い文字 e\u0301te\u0301 👩‍👩‍👧', parent: 'mainmain' });
  expect(await stage.screen()).toMatchSnapshot();
});
