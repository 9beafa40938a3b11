import { expect, test } from 'vitest';
import { readTaskVariables } from '../../../src/engine/task/task-variables.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { call, calls, eventsOfType, play, toldTo, type Play } from '../play.ts';
import { answerAll, testEngine, WORKER, type EngineSetup, type TestEngine } from '../support.ts';

const NAMES = ['Bash', 'GetEnv', 'SetEnv', 'Task'];

/** Returns the real tools with these names. */
function over(parts: Play, setup: EngineSetup = {}): TestEngine {
  const agent = { ...WORKER, name: 'keeper', tools: { mode: 'allow', names: NAMES } } as const;
  return testEngine(play(parts), {
    tools: builtinTools(),
    root: tempDirectory(),
    agent,
    ...setup,
  });
}

const set = (name: string, value: string) => call('SetEnv', { name, value });
const bash = (command: string) => call('Bash', { command });
const SHOW = 'printf "<%s>" "$SHADE"; true';

test('later commands of the task see the variables that it has set, also commands of the same message', async () => {
  const engine = over({
    main: [
      calls(set('SHADE', 'one'), bash(SHOW), call('GetEnv', { name: 'SHADE' })),
      calls(bash(SHOW)),
    ],
  });
  await engine.start('main').end.written;
  expect(eventsOfType(engine, 'call.ended').map(({ text }) => text)).toEqual([
    'SHADE is set for your later commands, not for those of other tasks.',
    expect.stringContaining('<one>'),
    'SHADE=one',
    expect.stringContaining('<one>'),
  ]);
});

test('an unset variable is gone, and a second value replaces the first', async () => {
  const engine = over({
    main: [
      calls(set('SHADE', 'one'), set('SHADE', 'two'), bash(SHOW)),
      calls(call('SetEnv', { name: 'SHADE' }), bash(SHOW)),
    ],
  });
  const run = engine.start('main');
  await run.end.written;
  const shown = eventsOfType(engine, 'call.ended').filter(({ tool }) => tool === 'Bash');
  expect(shown.map(({ text }) => text)).toEqual([
    expect.stringContaining('<two>'),
    expect.stringContaining('<>'),
  ]);
  expect(run.state.variables).toEqual(new Map());
});

test('neither its children nor other processes see a variable', async () => {
  const engine = over({
    main: [calls(set('SHADE', 'one')), calls(call('Task', { prompt: 'child' }))],
    child: [calls(bash(SHOW))],
  });
  await engine.start('main').end.written;
  const shown = eventsOfType(engine, 'call.ended').find(({ tool }) => tool === 'Bash');
  expect(shown?.text).toContain('<>');
  expect(process.env['SHADE']).toBeUndefined();
});

test('a resumed task still has its variables', async () => {
  const parts = { main: [calls(set('SHADE', 'kept')), { text: 'one' }, calls(bash(SHOW))] };
  const root = tempDirectory();
  const first = over(parts, { root });
  const run = first.start('main');
  await run.end.written;
  const second = over(parts, { root, store: first.store });
  const again = await second.engine.resume(run.spec.id, {
    prompt: 'go on',
    maxRights: (all) => all,
  });
  await again.end.written;
  expect(toldTo(second, 'main').join('\n')).toContain('<kept>');
});

test('setting a variable is judged like a command: asked about, and refused in plan mode', async () => {
  const asked = over({ main: [calls(set('SHADE', 'one'))] }, { mode: 'default', onAsk: 'wait' });
  const questions: (string | null)[] = [];
  asked.inbox.listen(() => {
    for (const { question } of asked.inbox.open()) {
      if (question.kind === 'permission') questions.push(question.input);
    }
  });
  answerAll(asked.inbox, 'yes');
  const run = asked.start('main');
  await run.end.written;
  expect(questions[0]).toBe('{"name":"SHADE","value":"one"}');
  const plan = over({ main: [calls(set('SHADE', 'one'))] }, { mode: 'plan' });
  await plan.start('main').end.written;
  expect(eventsOfType(plan, 'call.refused')).toMatchObject([{ tool: 'SetEnv' }]);
  expect(plan.model.requests[0]?.prefix.tools.map(({ name }) => name)).toEqual([
    'Bash',
    'Task',
    'GetEnv',
  ]);
});

test('a command that may use a variable is not proved to be harmless', async () => {
  const allow = {
    text: 'SetEnv',
    tool: 'SetEnv',
    source: { kind: 'flag', where: '--allow' },
  } as const;
  const standing = {
    rules: () => [allow],
    add: () => {},
    remove: () => false,
    list: () => [],
  };
  const engine = over(
    { main: [calls(set('SHADE', 'one')), calls(bash('echo "$SHADE"'), bash('echo "$OTHER"'))] },
    { mode: 'default', standing },
  );
  await engine.start('main').end.written;
  expect(eventsOfType(engine, 'call.refused').map(({ text }) => text)).toEqual([
    expect.stringContaining('Bash runs commands or code'),
  ]);
  expect(eventsOfType(engine, 'call.ended').map(({ tool }) => tool)).toEqual(['SetEnv', 'Bash']);
});

test('a secret that the log does not keep is not set', async () => {
  const redact = (text: string): string => text.replaceAll('hunter2', '[redacted by Muster]');
  const engine = over({ main: [calls(set('SHADE', 'hunter2'), bash(SHOW))] }, { redact });
  await engine.start('main').end.written;
  const [setting, shown] = eventsOfType(engine, 'call.ended');
  expect(setting).toMatchObject({ error: 'INVALID_PARAM', facts: {} });
  expect(shown?.text).toContain('<>');
});

test('no dangerous variable is taken from a log that was made elsewhere or written by hand', () => {
  const variables = new Map([
    ['OWN', { value: 'a', seq: 9 }],
    ['FOREIGN', { value: 'b', seq: 3 }],
    ['PATH', { value: '/tmp', seq: 9 }],
    ['NODE_OPTIONS', { value: '--require ./x.js', seq: 9 }],
  ]);
  const run = over({}).start('main');
  expect(
    readTaskVariables({
      state: { ...run.state, variables },
      permissions: { isTrusted: (seq) => seq > 5 },
    }),
  ).toEqual({
    OWN: 'a',
  });
});
