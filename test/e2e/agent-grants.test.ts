import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { eventsOf, type Finished } from './muster.ts';
import { needs } from '../needs.ts';
import { clean, family, tasks } from './tasks.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld, type World } from './world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';

const CODER = `---
name: coder
description: Edits what it is told to.
tools: Read, Write, Edit, Bash
permissionMode: acceptEdits
---
You edit.
`;

const FLAG = ['--agent-mode', 'coder=acceptEdits'];

/** A file of the user's own configuration directory. */
function own(world: World, path: string, text: string): void {
  const full = join(world.sandbox.home, '.config/muster', path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
}

function write(name: string): AnswerToolCall {
  return { name: 'Write', input: { file_path: name, content: 'written' } };
}

const DELEGATE: AnswerToolCall = {
  name: 'Task',
  input: { prompt: 'for coder', subagent_type: 'coder' },
};

/** The main agent writes a file itself, then has the coder write one. */
function script(request: RecordedRequest): Answer {
  const round = toolResultRounds(request);
  if (firstUserText(request).startsWith('for coder')) {
    return round === 0 ? { toolCalls: [write('by-coder')] } : { text: 'coded' };
  }
  const calls = [write('by-main'), DELEGATE];
  const call = calls[round];
  return call === undefined ? { text: 'done' } : { toolCalls: [call] };
}

function openCoderWorld(files: Readonly<Record<string, string>> = {}) {
  return openWorld({ script, files });
}

function made(world: World): readonly string[] {
  return ['by-main', 'by-coder'].filter((name) => existsSync(join(world.sandbox.workspace, name)));
}

function refusals(run: Pick<Finished, 'stdout'>): readonly TaskEvent[] {
  return eventsOf(run).filter(({ type }) => type === 'call.refused');
}

async function eventsIn(world: World, id: string | undefined): Promise<readonly TaskEvent[]> {
  return eventsOf(await tasks(world, 'log', id ?? '', '--json'));
}

function grantsIn(events: readonly TaskEvent[]) {
  return events.filter((event) => event.type === 'mode.granted');
}

/** What the coder's calls came to, as its model read it. */
function toldCoder(world: World): string {
  const last = world.model.requests.findLast((request) => firstUserText(request) === 'for coder');
  return (last?.messages ?? []).flatMap((each) => each.toolResults.map(({ text }) => text)).join();
}

describe.concurrent('without a grant', () => {
  it('names the flag and the key that would give the agent its mode', async () => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    const run = await world.run(['-p', 'go']);
    expect([run.code, made(world)]).toEqual([0, []]);
    const way =
      '--agent-mode coder=acceptEdits, or agent_modes = ["coder=acceptEdits"] under [permissions] of your configuration';
    expect(run.stderr).toContain(
      `coder asks for acceptEdits mode and runs in default mode, that of the task above it. A user can grant it with ${way}\n`,
    );
    expect(toldCoder(world)).toContain(
      `Or a user can let coder run in acceptEdits mode, as its definition asks, with ${way}.`,
    );
  });
});

describe.concurrent('a grant by a flag', () => {
  it('lets the child edit, while the main agent is refused the same', async () => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    const run = await world.run(['-p', 'go', ...FLAG, '--output-format', 'stream-json']);
    expect([run.code, made(world)]).toEqual([0, ['by-coder']]);
    expect(refusals(run)).toMatchObject([{ tool: 'Write', decision: { step: 'tool_default' } }]);
    const { root, children } = await family(world);
    expect(grantsIn(await eventsIn(world, root))).toMatchObject([
      { grant: { agent: 'coder', mode: 'acceptEdits' }, scope: 'task' },
    ]);
    expect(grantsIn(await eventsIn(world, children[0]))).toMatchObject([
      { grant: { source: { kind: 'flag', where: '--agent-mode' } }, without: 'default' },
    ]);
    expect(clean(await tasks(world, 'show', children[0] ?? ''))).toContain(
      'mode     acceptEdits by your grant (without it: default)\n',
    );
    expect(clean(await tasks(world, 'show', root))).toContain(
      'granted  coder=acceptEdits (--agent-mode)\n',
    );
  });

  it('stays with the conversation when it is resumed', async () => {
    await using world = await openWorld({
      script: (request) => {
        if (firstUserText(request) === 'for coder') {
          return toolResultRounds(request) === 0
            ? { toolCalls: [write('by-coder')] }
            : { text: 'coded' };
        }
        const isTold = JSON.stringify(request.messages.at(-1)).includes('again');
        return isTold ? { toolCalls: [DELEGATE] } : { text: 'done' };
      },
    });
    own(world, 'agents/coder.md', CODER);
    expect((await world.run(['-p', 'go', ...FLAG])).code).toBe(0);
    expect(made(world)).toEqual([]);
    expect((await world.run(['--continue', '-p', 'again'])).code).toBe(0);
    expect(made(world)).toEqual(['by-coder']);
  });

  it('can be given when a conversation is resumed', async () => {
    await using world = await openWorld({
      script: (request) => {
        if (firstUserText(request) === 'for coder') {
          return toolResultRounds(request) === 0
            ? { toolCalls: [write('by-coder')] }
            : { text: 'coded' };
        }
        const isTold = JSON.stringify(request.messages.at(-1)).includes('again');
        return isTold ? { toolCalls: [DELEGATE] } : { text: 'done' };
      },
    });
    own(world, 'agents/coder.md', CODER);
    await world.run(['-p', 'go']);
    await world.run(['--continue', '-p', 'again', ...FLAG]);
    expect(made(world)).toEqual(['by-coder']);
  });

  it.each([
    [['--permission-mode', 'plan']],
    [['--deny', 'Edit']],
    [['--deny', 'Write(by-coder)']],
    [['--ask', 'Write']],
  ])('never lifts %j', async (args) => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    const run = await world.run(['-p', 'go', ...FLAG, ...args]);
    expect([run.code, made(world)]).toEqual([0, []]);
  });

  it('gives at most the mode that the definition asks for and that the flag allows', async () => {
    await using world = await openWorld({ script });
    own(world, 'agents/coder.md', CODER);
    const explained = async (...args: readonly string[]) =>
      JSON.parse((await world.run(['agents', 'explain', 'coder', '--json', ...args])).stdout)
        .rights;
    expect(await explained('--agent-mode', 'coder=autonomous')).toMatchObject({
      mode: 'acceptEdits',
      grantedBy: '--agent-mode',
    });
    own(world, 'agents/coder.md', CODER.replace('acceptEdits', 'bypassPermissions'));
    expect(await explained(...FLAG)).toMatchObject({ mode: 'acceptEdits' });
    expect(await explained('--agent-mode', 'coder=bypassPermissions')).toMatchObject({
      mode: 'autonomous',
    });
    expect(await explained('--parent-mode', 'plan', ...FLAG)).toMatchObject({
      mode: 'plan',
      grantedBy: null,
    });
  });

  it('is also for the items of a template', async () => {
    const template = '---\nname: code\ndescription: Codes.\nagent: coder\n---\nfor coder: {{item}}';
    await using world = await openCoderWorld({ '.muster/templates/code.md': template });
    own(world, 'agents/coder.md', CODER);
    const args = ['run', 'code', '--items', '-', '--trust-project'];
    await world.run(args, { stdin: 'one\n' });
    expect(made(world)).toEqual([]);
    const run = await world.run([...args, ...FLAG], { stdin: 'one\n' });
    expect([run.code, made(world)]).toEqual([0, ['by-coder']]);
  });

  it('is completed on the command line with the modes that agents ask for', async () => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    const offered = await world.run(['completion', 'fish', '--', 'muster', '--agent-mode', 'co']);
    expect(offered.stdout).toContain('coder=acceptEdits');
    expect(offered.stdout).not.toContain('coder=autonomous');
  });

  it.each([
    ['nobody=acceptEdits', /--agent-mode: .*nobody/],
    ['coder', /--agent-mode must be a list of NAME=MODE.*acceptEdits, autonomous, not "coder"/],
    ['coder=plan', /must be a list of NAME=MODE/],
    ['coder=dontAsk', /must be a list of NAME=MODE/],
    ['Explore=acceptEdits', /the definition of Explore asks for plan mode/],
  ])('is a usage error as %s', async (value, expected) => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    const run = await world.run(['-p', 'go', '--agent-mode', value]);
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toMatch(expected);
    expect(world.model.requests).toEqual([]);
  });
});

describe.concurrent('a grant to the main agent', () => {
  it.each([
    ['before a run', ['-p', 'go', '--agent', 'coder']],
    ['whose name is written in another form', ['-p', 'go', '--agent', 'CODER']],
  ])('is a usage error %s, which names the flag that has an effect', async (_, args) => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    const run = await world.run([...args, ...FLAG]);
    expect([run.code, run.stdout, world.model.requests]).toEqual([2, '', []]);
    expect(run.stderr).toContain(
      '--agent-mode coder=acceptEdits: coder is the main agent: use --permission-mode acceptEdits',
    );
  });

  it('is reported when its conversation is resumed', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    own(world, 'agents/coder.md', CODER);
    expect((await world.run(['-p', 'go', '--agent', 'coder'])).code).toBe(0);
    const run = await world.run(['--continue', '-p', 'again', ...FLAG]);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain('coder is the main agent: use --permission-mode acceptEdits');
  });

  it('has no effect in the configuration, which is for all conversations', async () => {
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) === 0 ? { toolCalls: [write('by-main')] } : { text: 'done' },
    });
    own(world, 'agents/coder.md', CODER);
    own(world, 'config.toml', '[permissions]\nagent_modes = ["coder=acceptEdits"]\n');
    const run = await world.run(['-p', 'go', '--agent', 'coder']);
    expect([run.code, made(world)]).toEqual([0, []]);
    expect(run.stderr).not.toContain('is the main agent');
  });
});

describe.concurrent('a grant by the configuration', () => {
  const KEY = '[permissions]\nagent_modes = ["coder=acceptEdits"]\n';

  it('has an effect while it is there, and is shown in the list of agents', async () => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    own(world, 'config.toml', KEY);
    expect([(await world.run(['-p', 'go'])).code, made(world)]).toEqual([0, ['by-coder']]);
    const listed = JSON.parse((await world.run(['agents', 'list', '--json'])).stdout);
    expect(
      listed.agents.find(({ name }: { readonly name: string }) => name === 'coder'),
    ).toMatchObject({ permissionMode: 'acceptEdits', effectiveMode: 'acceptEdits' });
    const explained = await world.run(['agents', 'explain', 'coder']);
    expect(explained.stdout).toMatch(/mode +acceptEdits .*granted by .*config\.toml:2\)/);
    const shown = await world.run(['config', 'show']);
    expect(shown.stdout).toMatch(/permissions\.agent_modes.*coder=acceptEdits.*config\.toml:2/s);
  });

  it('can also be set by the environment', async () => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    const env = { MUSTER_PERMISSIONS_AGENT_MODES: 'coder=acceptEdits' };
    expect((await world.run(['-p', 'go'], { env })).code).toBe(0);
    expect(made(world)).toEqual(['by-coder']);
  });

  it('is not for a project file that takes the name', async () => {
    await using world = await openCoderWorld({ '.muster/agents/coder.md': CODER });
    own(world, 'agents/coder.md', CODER);
    own(world, 'config.toml', KEY);
    const run = await world.run(['-p', 'go', '--trust-project']);
    expect([run.code, made(world)]).toEqual([0, []]);
    expect(run.stderr).toMatch(
      /config\.toml:2: permissions\.agent_modes grants acceptEdits mode to your own agent coder, and not to .*workspace\/\.muster\/agents\/coder\.md/,
    );
    expect(toldCoder(world)).toContain(
      'with --agent-mode coder=acceptEdits (for one conversation).',
    );
  });

  it.each([
    ['nosuch=acceptEdits', 'There is no agent `nosuch`.'],
    ['codr=acceptEdits', 'There is no agent `codr`. Did you mean `coder`?'],
    ['foo bar=acceptEdits', '`foo bar` matches 2 agents: '],
    ['Explore=acceptEdits', 'the definition of Explore asks for plan mode, and a grant'],
  ])('that can have no effect is told with its line: %s', async (text, because) => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    own(world, 'agents/coder.md', CODER);
    for (const name of ['foo-bar', 'foo_bar']) {
      own(world, `agents/${name}.md`, CODER.replace('name: coder', `name: ${name}`));
    }
    own(world, 'config.toml', `[permissions]\nagent_modes = ["${text}"]\n`);
    const run = await world.run(['-p', 'go']);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(
      `config.toml:2: permissions.agent_modes ${text} has no effect: ${because}`,
    );
  });

  it('is ignored in a file of the project, with its line', async () => {
    await using world = await openCoderWorld({ '.muster/config.toml': KEY });
    own(world, 'agents/coder.md', CODER);
    const run = await world.run(['-p', 'go', '--trust-project']);
    expect([run.code, made(world)]).toEqual([0, []]);
    expect(run.stderr).toMatch(
      /\.muster\/config\.toml:2: a project cannot set permissions\.agent_modes; ignored/,
    );
  });

  /** The coder has written by the grant, and writes another file when it goes on. */
  async function goingOn(): Promise<{ readonly world: World; readonly id: string }> {
    const world = await openWorld({
      script: (request) => {
        const last = JSON.stringify(request.messages.at(-1));
        if (firstUserText(request) === 'for coder') {
          if (last.includes('for coder')) return { toolCalls: [write('by-coder')] };
          return last.includes('more') ? { toolCalls: [write('by-main')] } : { text: 'coded' };
        }
        if (last.includes('again')) {
          const [, resume = ''] = /again ([a-z0-9]+)/.exec(last) ?? [];
          return { toolCalls: [{ name: 'Task', input: { prompt: 'more', resume } }] };
        }
        return last.includes('go') ? { toolCalls: [DELEGATE] } : { text: 'done' };
      },
    });
    own(world, 'agents/coder.md', CODER);
    own(world, 'config.toml', KEY);
    await world.run(['-p', 'go']);
    const [id = ''] = (await family(world)).children;
    return { world, id };
  }

  it('has an effect on a task that continues, while it is there', async () => {
    const { world, id } = await goingOn();
    await using _ = world;
    await world.run(['--continue', '-p', `again ${id}`]);
    expect(made(world)).toEqual(['by-main', 'by-coder']);
  });

  it.each([
    ['below its conversation', (id: string) => ['--continue', '-p', `again ${id}`]],
    ['alone', (id: string) => ['tasks', 'resume', id, 'more']],
  ])('does not act for a task that goes on %s once it is gone', async (_, args) => {
    const { world, id } = await goingOn();
    await using _world = world;
    own(world, 'config.toml', '');
    await world.run(args(id));
    expect([toldCoder(world), made(world)]).toEqual([
      expect.stringContaining('neither a rule nor default mode lets it run unasked'),
      ['by-coder'],
    ]);
  });
});

describe.concurrent('an answer', () => {
  async function parked(files: Readonly<Record<string, string>> = {}) {
    const world = await openCoderWorld(files);
    const isOfProject = '.muster/agents/coder.md' in files;
    if (!isOfProject) own(world, 'agents/coder.md', CODER);
    const trust = isOfProject ? ['--trust-project'] : [];
    const run = await world.run([
      '-p',
      'go',
      '--on-ask',
      'park',
      '--deny',
      'Edit(by-main)',
      ...trust,
    ]);
    const [asked] = JSON.parse(clean(await tasks(world, 'answer', '--json')));
    return { world, run, asked };
  }

  it('is offered if the mode alone would let the call run, and raises the mode of the asking task', async () => {
    const { world, run, asked } = await parked();
    await using _ = world;
    expect([run.code, asked]).toMatchObject([
      5,
      {
        tool: 'Write',
        agent_mode: { agent: 'coder', mode: 'acceptEdits', scopes: ['task', 'user'] },
      },
    ]);
    expect(run.stderr).toContain(
      `muster tasks answer ${asked.id} mode --scope task|user   lets coder run in its mode, acceptEdits\n`,
    );
    const on = await world.run(['tasks', 'answer', asked.id, 'mode']);
    expect([on.code, made(world)]).toEqual([0, ['by-coder']]);
    const { root } = await family(world);
    expect(grantsIn(await eventsIn(world, root))).toMatchObject([
      { grant: { agent: 'coder', mode: 'acceptEdits' }, scope: 'task', question: asked.id },
    ]);
  });

  it('is replayed with its conversation', async () => {
    const { world, asked } = await parked();
    await using _ = world;
    await world.run(['tasks', 'answer', asked.id, 'mode']);
    const { root } = await family(world);
    expect((await tasks(world, 'rerun', root)).code).toBe(0);
  });

  const modeOf = async (world: World, ...args: readonly string[]) => {
    const explained = await world.run(['agents', 'explain', 'coder', '--json', ...args]);
    return JSON.parse(explained.stdout).rights.mode;
  };

  it.each([
    ['task', 'default'],
    ['user', 'acceptEdits'],
  ])('of scope %s leaves the agent in %s mode elsewhere', async (scope, expected) => {
    const { world, asked } = await parked();
    await using _ = world;
    const on = await world.run(['tasks', 'answer', asked.id, 'mode', '--scope', scope]);
    expect([on.code, made(world)]).toEqual([0, ['by-coder']]);
    expect(await modeOf(world)).toBe(expected);
  });

  it('for every conversation is listed, and can be revoked', async () => {
    await using world = await openCoderWorld();
    own(world, 'agents/coder.md', CODER);
    const path = join(world.sandbox.home, '.config/muster/agents/coder.md');
    const saved = { agent: 'coder', mode: 'acceptEdits', path, sha256: null };
    const modes = [{ ...saved, answeredOn: '2026-11-22T08:00:00.000Z' }];
    mkdirSync(world.sandbox.data, { mode: 0o700 });
    const file = join(world.sandbox.data, 'agent-modes.json');
    writeFileSync(file, JSON.stringify({ version: 1, modes }), { mode: 0o600 });
    const listed = await world.run(['trust', 'list']);
    expect(listed.stdout).toMatch(/mode +in every project +coder=acceptEdits +.*coder\.md/);
    const revoked = await world.run(['trust', 'revoke', 'coder=acceptEdits']);
    expect(revoked.stdout).toBe('mode not granted any more: coder=acceptEdits\n');
    expect(await modeOf(world)).toBe('default');
  });

  it('about a project file is for the content that the file had', async () => {
    const { world, asked } = await parked({ '.muster/agents/coder.md': CODER });
    await using _ = world;
    expect(
      (await world.run(['tasks', 'answer', asked.id, 'mode', '--scope', 'user', '--trust-project']))
        .code,
    ).toBe(0);
    expect(made(world)).toEqual(['by-coder']);
    expect(await modeOf(world, '--trust-project')).toBe('acceptEdits');
    world.sandbox.write('.muster/agents/coder.md', `${CODER}And whatever else you like.\n`);
    expect(await modeOf(world, '--trust-project')).toBe('default');
  });

  it('is not offered for calls that the mode would not allow', async () => {
    await using world = await openWorld({
      script: (request) => {
        if (firstUserText(request) === 'for coder') {
          const call = { name: 'Bash', input: { command: 'touch by-coder' } };
          return toolResultRounds(request) === 0 ? { toolCalls: [call] } : { text: 'coded' };
        }
        return toolResultRounds(request) === 0 ? { toolCalls: [DELEGATE] } : { text: 'done' };
      },
    });
    own(world, 'agents/coder.md', CODER);
    await world.run(['-p', 'go', '--on-ask', 'park']);
    const [asked] = JSON.parse(clean(await tasks(world, 'answer', '--json')));
    expect(asked).not.toHaveProperty('agent_mode');
    const on = await world.run(['tasks', 'answer', asked.id, 'mode']);
    expect([on.code, on.stderr]).toEqual([
      1,
      expect.stringContaining('the answer "mode" is not offered'),
    ]);
  });
});

const inTerminal = it.runIf(needs('tmux', 'tmux'));

inTerminal('in the terminal the question offers the mode, and m grants it', async () => {
  await using world = await openCoderWorld();
  own(world, 'agents/coder.md', CODER);
  const { sandbox, model } = world;
  const args = ['--deny', 'Edit(by-main)'];
  using terminal = new TmuxTerminal(sandbox, args, { env: model.env('anthropic') });
  await terminal.sees('/help');
  terminal.type('go');
  terminal.press('Enter');
  await terminal.sees('coder “for coder” asks to run Write');
  terminal.press('Tab');
  await terminal.sees('m let coder run in its mode, acceptEdits, in this conversation');
  terminal.press('m');
  await waitUntilPasses(() => {
    expect(made(world)).toEqual(['by-coder']);
  });
});
