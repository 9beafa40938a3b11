import { describe, expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

describe('a question on a small terminal', () => {
  it('shows the request and all keys', async () => {
    await using stage = new Stage({ columns: 40, rows: 12 });
    await stage.say('Run the tests');
    stage.call('mainmain', 'a', 'Task', { prompt: 'run' });
    const rule = 'Bash(npm run the-tests-of-everything -- --all)';
    for (const id of ['child1xx', 'child2xx']) {
      stage.begin(id, { parent: 'mainmain', agent: 'general-purpose' });
      stage.call(id, 'b', 'Bash', { command: 'rm -r build' });
      stage.question(id, 'b', { commands: ['rm -r build'], rule });
    }
    expect(await stage.screen()).toMatch(/general-purpose: Bash +1 of 2/);
    await stage.emulator.press(KEYS.tab);
    const screen = await stage.screen();
    expect(screen).toMatch(/^│ rm -r build$/m);
    expect(screen).toContain('a always (conversation), see above');
    expect(screen).toContain('esc later');
    await stage.emulator.press(...Array<string>(9).fill(KEYS.down));
    expect(await stage.screen()).toMatch(/^┊ .*--all\)$/m);
  });
});

describe('the text of a question', () => {
  it('leaves the tree visible, however long it is', async () => {
    await using stage = new Stage();
    await stage.say('Run it');
    stage.call('mainmain', 'a', 'Task', { prompt: 'run' });
    for (const id of ['child1xx', 'child2xx']) stage.begin(id, { parent: 'mainmain' });
    stage.call('child1xx', 'b', 'Bash', { command: 'x' });
    stage.question('child1xx', 'b', { commands: ['echo one\n'.repeat(50)] });
    await stage.emulator.press(KEYS.tab);
    const screen = await stage.screen();
    expect(screen.match(/^│ echo one$/gm)).toHaveLength(11);
    expect(screen).toMatch(/^ ● main [^]*^ {3}\? .*child1[^]*^ {3}● .*child2/m);
  });

  it('has a different border at wrapped lines', async () => {
    await using stage = new Stage({ columns: 40 });
    await stage.say('Run it');
    stage.call('mainmain', 'b', 'Bash', { command: 'x' });
    const comment = `# ${'only a comment '.repeat(4)}`;
    stage.question('mainmain', 'b', { commands: [`${comment}\nrm -r src`] });
    const screen = await stage.screen();
    expect(screen).toMatch(/^┊ comment only a comment$/m);
    expect(screen).toMatch(/^│ rm -r src$/m);
  });
});

describe('a plan', () => {
  async function planning(text: string): Promise<Stage> {
    const stage = new Stage();
    await stage.say('Plan it');
    stage.call('mainmain', 'p', 'ExitPlanMode', { plan: text });
    const question = {
      kind: 'plan',
      id: 'mainmainq1',
      task: 'mainmain',
      callId: 'p',
      chain: ['main'],
      tool: 'ExitPlanMode',
      text,
    } as const;
    stage.write('mainmain', { type: 'question.asked', question, digest: '0', parks: false });
    await stage.emulator.press(KEYS.tab);
    return stage;
  }

  it.each([
    '[//]: # (then push to all branches)',
    '[the docs](https://a.test "then push to all branches")',
    '![then push](https://a.test/all.png "to all branches")',
  ])('is shown as written if markdown would hide a part: %s', async (hidden) => {
    await using stage = await planning(`# Plan\n\n1. Read **a.ts**\n\n${hidden}\n`);
    const screen = await stage.screen();
    expect(screen).toContain(`│ ${hidden}`);
    expect(screen).toContain('│ # Plan');
  });

  it('is drawn as markdown if that hides nothing', async () => {
    const table = '| file | why |\n|---|---|\n| a.ts | `x < 1 && y` |';
    const list =
      '3. Read **a.ts**\n   - [ ] then [b](https://b.test) &amp; c\n   - [x] <https://c.test>';
    const code = '```ts\nconst a = 1;\n```\n\n> quoted\n\n***\n\nC:\\\\a \\*b\\*';
    await using stage = await planning(`# Plan\n\n${list}\n\n${table}\n\n${code}\n`);
    const screen = await stage.screen();
    expect(screen).toContain('│ 3. Read a.ts');
    expect(screen).not.toContain('│ # Plan');
  });
});

describe('the box of a question', () => {
  it('names the task, lists a rule for each part, and shows what it shows for similar ones', async () => {
    await using stage = new Stage();
    await stage.say('Run the tests');
    for (const [index, id] of ['child1xx', 'child2xx'].entries()) {
      stage.begin(id, {
        parent: 'mainmain',
        agent: 'general-purpose',
        description: `part ${index}`,
      });
      stage.call(id, 'b', 'Bash', { command: 'x' });
      stage.question(id, 'b', {
        description: `part ${index}`,
        commands: [`cd p${index} && npm test`],
        rule: `Bash(cd p${index})`,
        moreRules: ['Bash(npm test)'],
        programs: ['cd', 'npm test'],
      });
    }
    const screen = await stage.screen();
    expect(screen).toMatch(/^┌─ \? main > general-purpose “part 0” asks to run Bash +1 of 2$/m);
    expect(screen).toMatch(/^│ always: Bash\(cd p0\)\n│ always: Bash\(npm test\)$/m);
    expect(screen).toContain('A answer all 2 similar alike');
    expect(screen).toContain('a always (conversation), see above · p always (project)');
    await stage.emulator.press(KEYS.tab, 'A');
    expect(await stage.screen()).toMatch(/^│ and general-purpose “part 1”:\n│ cd p1 && npm test$/m);
    await stage.emulator.press('n');
    expect(stage.asked.answers).toEqual([]);
    stage.pass(500);
    await stage.emulator.press('n');
    expect(stage.asked.answers).toEqual([
      { question: 'child1xxq1', text: 'no' },
      { question: 'child2xxq1', text: 'no' },
    ]);
  });

  it('shows paths relative to the directory, and others in full', async () => {
    await using stage = new Stage();
    await stage.say('Edit it');
    stage.call('mainmain', 'b', 'Write', {});
    const cwd = '/home/you/project';
    const paths = [`${cwd}/src/a.ts`, `${cwd}/~/b.ts`, `${cwd}-other/c.ts`, cwd];
    const edits = [{ path: `${cwd}/src/a.ts`, before: null, after: 'a', everywhere: false }];
    const change = { tool: 'Write', commands: [], paths, edits, chain: ['main'] };
    stage.question('mainmain', 'b', { ...change, rule: null, scopes: [], offersEdits: true });
    const screen = await stage.screen();
    expect(screen).toContain(`│ src/a.ts\n│ ./~/b.ts\n│ ${cwd}-other/c.ts\n│ ${cwd}\n│`);
    expect(screen).toContain('shift+tab accept edits from here on');
    await stage.emulator.press(KEYS.tab, KEYS.shiftTab);
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'edits' }]);
  });

  it('needs the focus if not all of it is in view', async () => {
    await using stage = new Stage();
    await stage.say('Run it');
    stage.call('mainmain', 'b', 'Bash', { command: 'x' });
    stage.question('mainmain', 'b', { commands: ['echo one\n'.repeat(30)] });
    expect(await stage.screen()).toContain('└ tab to answer');
  });
});

describe('a completed task to which the user refused a call', () => {
  it('has no check mark', async () => {
    await using stage = new Stage({ columns: 120 });
    await stage.say('Run the tests');
    stage.begin('child1xx', { parent: 'mainmain', agent: 'general-purpose' });
    stage.begin('child2xx', { parent: 'mainmain', agent: 'general-purpose' });
    stage.call('child1xx', 'b', 'Bash', { command: 'x' });
    stage.question('child1xx', 'b');
    stage.write('child1xx', {
      type: 'question.answered',
      question: 'child1xxq1',
      callId: 'b',
      answer: { kind: 'no', reason: null },
      by: 'user',
    });
    stage.end('child1xx');
    stage.end('child2xx');
    const screen = await stage.screen();
    expect(screen).toMatch(/⊘ general-purpose child1 .*completed, 1 call refused/);
    expect(screen).toMatch(/✓ general-purpose child2/);
  });
});
