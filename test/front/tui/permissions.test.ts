import { expect, it } from 'vitest';
import type { RuleInForce } from '../../../src/api/index.ts';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

const RULES: readonly RuleInForce[] = [
  { list: 'deny', text: 'Bash(rm:*)', origin: 'conversation', where: 'set with /permissions' },
  { list: 'ask', text: 'Edit(docs/**)', origin: 'definition', where: 'agent reviewer' },
  { list: 'allow', text: 'Bash(npm test)', origin: 'conversation', where: 'set with /permissions' },
  { list: 'allow', text: 'Bash(make:*)', origin: 'project', where: '/state/answers.json' },
  { list: 'allow', text: 'Read', origin: 'file', where: '/home/you/.config/muster/config.toml:12' },
  { list: 'deny', text: 'WebFetch', origin: 'flag', where: '--deny' },
];

async function open(options: StageOptions = {}): Promise<Stage> {
  const stage = new Stage(options);
  stage.rules = RULES;
  await stage.say('/permissions');
  return stage;
}

it.each([
  [40, 12],
  [80, 24],
  [120, 30],
] as const)('the rules at %d × %d', async (columns, rows) => {
  await using stage = await open({ columns, rows });
  await expect.poll(() => stage.screen()).toContain('Bash(rm:*)');
  expect(await stage.screen()).toMatchSnapshot();
});

/** A conversation that is at work. */
async function openAtWork(options: StageOptions = {}): Promise<Stage> {
  const stage = new Stage(options);
  stage.rules = RULES;
  await stage.say('Look');
  await stage.say('/permissions');
  await expect.poll(() => stage.screen()).toContain('Bash(rm:*)');
  return stage;
}

it('a rule is removed from the list, which is shown again', async () => {
  await using stage = await openAtWork();
  await stage.emulator.type('rm');
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toContain('▶ Remove it');
  await stage.emulator.press(KEYS.enter);
  await expect
    .poll(() => stage.asked.rules)
    .toEqual([{ kind: 'remove', list: 'deny', rule: 'Bash(rm:*)', scope: 'task' }]);
  await expect.poll(() => stage.screen()).toMatch(/^Permissions[^]*WebFetch/);
  await stage.emulator.press(KEYS.escape);
  expect(await stage.screen()).toContain('Bash(rm:*) is no longer denied in this conversation');
});

it('an allow rule of a file is narrowed here, and a rule of a definition is left alone', async () => {
  await using stage = await openAtWork();
  await stage.emulator.type('read');
  await stage.emulator.press(KEYS.enter, KEYS.down);
  expect(await stage.screen()).toContain('▶ Deny it in this conversation');
  await stage.emulator.press(KEYS.enter);
  await expect
    .poll(() => stage.asked.rules)
    .toEqual([{ kind: 'add', list: 'deny', rule: 'Read', scope: 'task' }]);
});

it('the mode is chosen, and a line for a new rule goes into the editor', async () => {
  await using stage = await openAtWork();
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toContain('Permission mode');
  await stage.emulator.type('accept');
  await stage.emulator.press(KEYS.enter);
  await expect.poll(() => stage.screen()).toContain('[acceptEdits]');
  await stage.say('/permissions');
  await stage.emulator.type('add deny');
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toMatch(/^\/permissions deny/m);
});

it('a typed rule is added, and a wrong command is explained', async () => {
  await using stage = new Stage();
  await stage.say('Look');
  await stage.say('/permissions deny Bash(git push:*)');
  await expect
    .poll(() => stage.asked.rules)
    .toEqual([{ kind: 'add', list: 'deny', rule: 'Bash(git push:*)', scope: 'task' }]);
  expect(await stage.screen()).toContain('Bash(git push:*) is now denied');
  await stage.say('/permissions forbid x');
  expect(await stage.screen()).toContain('type /permissions, /permissions allow|ask|deny RULE');
});

it('rules for a conversation that has not begun are kept and go with its first message', async () => {
  await using stage = new Stage();
  await stage.say('/permissions deny Bash');
  await stage.say('/permissions ask Edit');
  await stage.say('/permissions remove Edit');
  await expect.poll(() => stage.screen()).toContain('Edit is no longer asked about');
  await stage.say('Look');
  await expect
    .poll(() => stage.asked.begunWith)
    .toEqual([{ kind: 'add', list: 'deny', rule: 'Bash', scope: 'task' }]);
  expect(stage.app.session.state.newRules).toEqual([]);
});

it('a watched conversation only shows them', async () => {
  const watched = {
    id: 'mainmain',
    isAtWork: false,
    isWatched: true,
    select: () => {},
    send: () => {},
    withdraw: () => [],
    continueWork: () => {},
    resumeTask: () => {},
  };
  await using stage = new Stage({ watched });
  stage.rules = RULES;
  await stage.say('/permissions deny Bash');
  expect(await stage.screen()).toContain('only where the conversation runs');
  await stage.say('/permissions');
  await expect.poll(() => stage.screen()).toContain('Bash(rm:*)');
  expect(await stage.screen()).not.toContain('add a rule');
  await stage.emulator.press(KEYS.down, KEYS.enter);
  expect(await stage.screen()).toContain('only where the conversation runs');
  expect(stage.asked.rules).toEqual([]);
});

it('hostile rules are drawn as plain text', async () => {
  await using stage = new Stage();
  const text = 'Bash(\u001b]0;title\u0007\u001b[2J\u202Etxet)';
  stage.rules = [{ list: 'allow', text, origin: 'file', where: '/a\u001b[31m/b.toml:1' }];
  await stage.say('/permissions');
  await expect.poll(() => stage.screen()).toContain('Bash(');
  expect(await stage.screen()).not.toContain('\u202E');
  expect(stage.emulator.titles).toEqual([]);
});
