import { expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

/** The key that selects entries in these tests. */
const F8 = '\u001b[19~';
const KEY_BINDINGS = new Map([['focus-entries', { keys: ['f8'], where: 'a test' }]]);

const lines = (count: number, word: string): string =>
  Array.from({ length: count }, (_, index) => `${word} ${index + 1}`).join('\n');

/** A conversation that has begun, without the lines of the start in view. */
async function begun(options: StageOptions = {}): Promise<Stage> {
  const stage = new Stage({ rows: 40, keyBindings: KEY_BINDINGS, ...options });
  await stage.say('Go');
  return stage;
}

it('a change is shown with line numbers, and a long one is cut', async () => {
  await using stage = await begun();
  stage.call('mainmain', 'e', 'Edit', {
    file_path: 'src/retry.ts',
    old_string: 'const a = 1;\nconst limit = 3;\nuse(limit);',
    new_string: 'const a = 1;\nconst limit = 30;\nuse(limit);',
  });
  stage.result('mainmain', 'e', 'Edit', 'Edited src/retry.ts: 1 replacement at line 12.');
  stage.call('mainmain', 'w', 'Write', { file_path: 'notes.md', content: lines(34, 'note') });
  stage.result('mainmain', 'w', 'Write', 'Created notes.md: 34 lines.');
  expect(await stage.screen()).toMatchSnapshot();
});

it('the last lines of a running command are shown, and how it ended', async () => {
  await using stage = await begun({ rows: 24 });
  stage.call('mainmain', 'b', 'Bash', { command: 'npm test' });
  const progress = { type: 'progress', task: 'mainmain', callId: 'b', tool: 'Bash' } as const;
  const shown = lines(5, 'test').split('\n');
  stage.signal({ ...progress, line: 'test 5', lines: shown });
  expect(await stage.screen()).toMatchSnapshot('running');
  stage.write('mainmain', {
    type: 'call.ended',
    callId: 'b',
    tool: 'Bash',
    text: `${lines(30, 'test')}\n1 failed\n[exit code 1]`,
    error: null,
    facts: { commands: [{ command: 'npm test', exitCode: 1 }] },
    ms: 2_100,
  });
  expect(await stage.screen()).toMatchSnapshot('ended');
  await stage.emulator.press(KEYS.ctrlO);
  expect(await stage.screen()).toMatch(/✗ Bash npm test +exit code 1, 31 lines, 2.1 s\n\n/);
});

it('only the newest todo list is shown', async () => {
  await using stage = await begun();
  const list = ['Read the code', 'Raise the limit', 'Run the tests'];
  for (const done of [0, 1]) {
    const callId = `t${done}`;
    const items = list.map((content, index) => ({
      content,
      status: index < done ? 'completed' : index === done ? 'in_progress' : 'pending',
    })) as never;
    stage.call('mainmain', callId, 'TodoWrite', { todos: items });
    stage.write('mainmain', { type: 'todos.set', items });
    stage.result('mainmain', callId, 'TodoWrite', 'Todo list: …');
  }
  expect(await stage.screen()).toMatchSnapshot();
});

it('a plan and the answers to questions are shown', async () => {
  await using stage = await begun();
  const answered = (callId: string, answer: object): void =>
    stage.write('mainmain', {
      type: 'question.answered',
      question: 'mainmainq1',
      callId,
      answer: answer as never,
      by: 'user',
    });
  stage.call('mainmain', 'q', 'AskUser', { question: 'Which database?', options: ['one'] });
  answered('q', { kind: 'text', text: 'SQLite, in one file' });
  stage.result('mainmain', 'q', 'AskUser', 'SQLite, in one file');
  stage.call('mainmain', 'p', 'ExitPlanMode', { plan: '# Plan\n\n1. Read `a.ts`\n2. Change it' });
  answered('p', { kind: 'approved', mode: 'acceptEdits', plan: null });
  stage.result('mainmain', 'p', 'ExitPlanMode', 'The user approved the plan.');
  stage.call('mainmain', 'b', 'Bash', { command: 'rm -r build' });
  answered('b', { kind: 'no', reason: 'keep the build' });
  stage.write('mainmain', {
    type: 'call.refused',
    callId: 'b',
    tool: 'Bash',
    error: 'PERMISSION_DENIED',
    text: 'The user said no.',
    decision: null,
  });
  expect(await stage.screen()).toMatchSnapshot();
});

it('the full text of an entry is shown in a pager, which can be searched', async () => {
  await using stage = await begun({ rows: 16 });
  stage.call('mainmain', 'w', 'Write', { file_path: 'notes.md', content: lines(300, 'note') });
  stage.result('mainmain', 'w', 'Write', 'Created notes.md: 300 lines.');
  await stage.emulator.type('a draft');
  await stage.emulator.press(F8, 'v');
  expect(await stage.screen()).toMatchSnapshot('first');
  await stage.emulator.press('/');
  await stage.emulator.type('note 25');
  expect(await stage.screen()).toContain('/note 25▏');
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toMatchSnapshot('found');
  await stage.emulator.press('n', 'n');
  expect(await stage.screen()).toContain('match 3 of 11');
  await stage.emulator.press('N');
  expect(await stage.screen()).toContain('match 2 of 11');
  await stage.emulator.press('G');
  expect(await stage.screen()).toContain('Created notes.md: 300 lines.');
  await stage.emulator.press('g');
  expect(await stage.screen()).toContain('lines 1–14 of');
  await stage.emulator.press(' ');
  expect(await stage.screen()).toContain('lines 14–27 of');
  await stage.emulator.press('q', KEYS.escape);
  expect(await stage.screen()).toMatch(/^a draft$/m);
});
