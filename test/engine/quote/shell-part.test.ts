import { afterEach, describe, expect, it } from 'vitest';
import { createShellPart } from '../../../src/engine/quote/shell-part.ts';
import { answerQuestion } from '../../../src/engine/questions/record-answer.ts';
import type { HookOccasion, HookOutcome, HookPort } from '../../../src/protocol/hook.ts';
import type { Rights } from '../../../src/protocol/permission.ts';
import type { QuotedItem } from '../../../src/protocol/quoted-item.ts';
import type { SlashCommandDefinition } from '../../../src/protocol/slash-command.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { KillableStore } from '../killable-store.ts';
import { call, calls, eventsOfType, play, requestsOf, toldTo, until, type Play } from '../play.ts';
import { SETTINGS, testEngine, type EngineSetup, type TestEngine } from '../support.ts';

const USER = { kind: 'user', where: '~/.claude/settings.json' } as const;
const FILE = '/home/me/.claude/commands/make.md';

/** A shell that records its commands. */
function shell(ran: string[]): AnyTool {
  return {
    name: 'Bash',
    kind: 'execute',
    replay: 'opaque',
    description: 'run',
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    describe: ({ command }: { command: string }) => ({
      reads: [],
      writes: [],
      commands: [command],
      hosts: [],
    }),
    run: async ({ command }: { command: string }) => {
      ran.push(command);
      const exitCode = command === 'false' ? 1 : 0;
      return { text: `output of ${command}`, facts: { commands: [{ command, exitCode }] } };
    },
  };
}

/** The items of a slash command with these shell parts. */
function slashCommand(...lines: readonly string[]): readonly QuotedItem[] {
  const text = {
    kind: 'slash_command',
    name: '/make',
    outcome: '',
    text: 'Made:',
    nonce: 'n',
  } as const;
  return [text, ...lines.map((line) => createShellPart(line, { path: FILE }))];
}

function definition(shellRules: readonly string[]): SlashCommandDefinition {
  return {
    name: 'make',
    description: '',
    body: '',
    syntax: 'claude',
    path: FILE,
    scope: 'user',
    source: 'claude',
    argumentNames: [],
    shellRules,
    turnRules: [],
    withoutEffect: [],
    extra: {},
    problems: [],
  };
}

const started: TestEngine[] = [];

function start(lines: readonly string[], setup: EngineSetup = {}, script: Play = {}) {
  const ran: string[] = [];
  const test = testEngine(play(script), { tools: [shell(ran)], ...setup });
  started.push(test);
  return { test, ran, main: test.start('main', slashCommand(...lines)) };
}

// A rerun decides and sends the same.
afterEach(async () => {
  for (const test of started.splice(0)) await expectSameRerun(test, test.events[0]?.task ?? '');
});

async function expectSameRerun({ store }: TestEngine, id: string): Promise<void> {
  const parts = { store, settings: SETTINGS };
  const source = { ...parts, tools: mapToolsByName(parts, [shell([])]) };
  const { tasks } = await rerunTree(source, id);
  expect(tasks.flatMap(({ difference }) => difference ?? [])).toEqual([]);
}

/** Hooks that say this about calls of Bash, and what they were told. */
function bashHooks(said: Partial<HookOutcome>): HookPort & { readonly occasions: HookOccasion[] } {
  const occasions: HookOccasion[] = [];
  return {
    occasions,
    has: (event) => event !== 'Stop' && event !== 'SessionStart',
    beginSession: () => false,
    run: async (occasion) => {
      occasions.push(occasion);
      return { context: [], records: [], ...(occasion.event === 'PreToolUse' ? said : {}) };
    },
  };
}

describe('the shell parts of a message', () => {
  it('run as calls of its task, after the hooks of the message, and go along with it', async () => {
    const hooks = bashHooks({ context: ['careful'] });
    const { test, ran, main } = start(['make a', 'false'], { hooks });
    await main.end.written;
    expect(ran).toEqual(['make a', 'false']);
    expect(hooks.occasions.map(({ event, matched }) => [event, matched])).toEqual([
      ['UserPromptExpansion', 'make'],
      ['UserPromptSubmit', null],
      ['PreToolUse', 'Bash'],
      ['PostToolUse', 'Bash'],
      ['PreToolUse', 'Bash'],
      ['PostToolUse', 'Bash'],
    ]);
    const [, first] = hooks.occasions;
    expect([first?.ask, first?.askAgent, first?.callTool].every((each) => each !== undefined)).toBe(
      true,
    );
    expect(toldTo(test, 'main').join('\n')).toMatch(
      /^main\n.*Made:.*ran this.*"make a"\..*output of make a\n\[A hook says: careful\].*"false"\. Its exit code was 1\..*output of false/s,
    );
    expect(main.state.commands.map(({ command }) => command)).toEqual(['make a', 'false']);
    expect(eventsOfType(test, 'hook.ran')).toHaveLength(2);
  });

  it('can be refused by a hook, and the message is not sent', async () => {
    const verdict = { verdict: 'deny', reason: 'no', source: USER } as const;
    const { test, ran, main } = start(['make a', 'make b'], { hooks: bashHooks({ verdict }) });
    await main.end.written;
    expect([ran, test.model.requests]).toEqual([[], []]);
    expect(main.state.end).toMatchObject({
      status: 'failed',
      error: {
        code: 'PERMISSION_DENIED',
        message:
          '/make is not sent. Its shell part "make a" did not run: A hook of ~/.claude/settings.json refuses this call: no.',
      },
    });
    expect(eventsOfType(test, 'hook.ran')).toMatchObject([{ outcome: { verdict } }]);
    expect(main.state.conversation.queued).toEqual([]);
  });

  it.each([
    ['a person allows', 'yes', ['make a']],
    ['a person refuses', 'no', []],
  ] as const)('run if %s them', async (_, answer, expected) => {
    const { test, ran, main } = start(['make a'], { mode: 'default', onAsk: 'wait' });
    await until(() => test.inbox.open().length === 1);
    const [open] = test.inbox.open();
    answerQuestion(test.inbox, open?.question.id ?? '', { text: answer });
    await main.end.written;
    expect(ran).toEqual(expected);
    expect(test.model.requests).toHaveLength(expected.length);
  });

  it('run without a question if the file allows them, also without the tool', async () => {
    const slashCommands = [definition(['Bash(make:*)'])];
    const setup: EngineSetup = { mode: 'default', slashCommands };
    const allowed = start(['make a'], setup);
    await allowed.main.end.written;
    expect(allowed.ran).toEqual(['make a']);
    const other = start(['touch a'], setup);
    await other.main.end.written;
    expect(other.ran).toEqual([]);
    expect(other.main.state.end?.because).toContain(
      'Nobody is here to be asked. Allow it with --allow',
    );
  });

  it('end no other work of the task when they are refused', async () => {
    const { test, ran, main } = start(
      [],
      { ask: ['Bash'] },
      {
        main: [calls(call('Task', { prompt: 'part', description: 'd', run_in_background: true }))],
        part: [{ text: 'late', delayMs: 200 }],
      },
    );
    await until(() => eventsOfType(test, 'child.created').length === 1);
    test.engine.send(main.spec.id, 'more', slashCommand('make a'));
    await main.end.written;
    expect([ran, main.state.end?.status]).toEqual([[], 'completed']);
    expect(eventsOfType(test, 'child.ended')).toMatchObject([{ status: 'completed' }]);
    expect(toldTo(test, 'main').join('\n')).not.toContain('more');
  });
});

/** Runs a message in a process that dies at this batch of events, and resumes it. Null if the process did not die. */
async function survive(batch: number) {
  const ran: string[] = [];
  const disk = openMemoryStore({});
  const mortal = new KillableStore(disk, { batch, several: false, kept: 0 }, async () => {});
  const setup = { tools: [shell(ran)], onFault: () => {} };
  const first = testEngine(play({}), { ...setup, store: mortal.store });
  const main = first.start('main', slashCommand('make a'));
  await Promise.race([main.end.written, until(() => mortal.isDead)]);
  if (!mortal.isDead) return null;
  const second = testEngine(play({}), { ...setup, store: disk });
  const terms = { prompt: null, maxRights: (rights: Rights) => rights };
  const resumed = await second.engine.resume(main.spec.id, terms);
  await resumed.end.written;
  await expectSameRerun(second, main.spec.id);
  return { ran, sent: toldTo(second, 'main').join('\n'), requests: requestsOf(second, 'main') };
}

it('a shell part whose outcome a crash has made unknown does not run again', async () => {
  const seen = new Set<string>();
  for (let batch = 2; ; batch += 1) {
    const survived = await survive(batch);
    if (survived === null) break;
    const { ran, sent } = survived;
    const isUnknown = sent.includes('Its outcome is unknown');
    const isKnown = sent.includes('output of make a');
    expect([batch, ran.length <= 1, isUnknown || isKnown || sent === '']).toEqual([
      batch,
      true,
      true,
    ]);
    seen.add(isUnknown ? 'unknown' : isKnown ? 'known' : 'sent before');
  }
  expect(seen.has('unknown') && seen.has('known')).toBe(true);
});

it('the rules of the file do not allow a shell part that is only in a log', async () => {
  const ran: string[] = [];
  const disk = openMemoryStore({});
  const setup: EngineSetup = {
    tools: [shell(ran)],
    mode: 'default',
    slashCommands: [definition(['Bash(make:*)'])],
    onFault: () => {},
  };
  const mortal = new KillableStore(disk, { batch: 2, several: false, kept: 0 }, async () => {});
  const first = testEngine(play({}), { ...setup, store: mortal.store });
  const main = first.start('main', slashCommand('make a'));
  await until(() => mortal.isDead);
  const second = testEngine(play({}), { ...setup, store: disk });
  const terms = { prompt: null, maxRights: (rights: Rights) => rights };
  const resumed = await second.engine.resume(main.spec.id, terms);
  await resumed.end.written;
  expect([ran, resumed.state.end?.status]).toEqual([[], 'failed']);
});
