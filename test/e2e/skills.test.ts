import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { byteLength } from '../../src/base/text.ts';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { eventsOf, runMuster, type Running, type Sandbox } from './muster.ts';
import { callsInTurn, lastResults, openWorld, type World } from './world.ts';

const DEPLOY = `---
name: deploy
description: Ships the service. Use it when asked to release.
argument-hint: [service]
---
Ship $0 by the steps in references/steps.md.
`;

/** Longer than Muster goes without a look at the files. */
const NEXT_LOOK_MS = 2_300;

function skill(...lines: readonly string[]): string {
  return `---\n${lines.join('\n')}\n---\nDo it.\n`;
}

/** Writes files below the home directory. */
function atHome({ home }: Sandbox, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const full = join(home, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }
}

function toolsIn({ body }: RecordedRequest): readonly string[] {
  const { tools = [] } = body;
  return Array.isArray(tools) ? tools.map((tool: { name: string }) => tool.name) : [];
}

function systemIn({ body }: RecordedRequest): string {
  return JSON.stringify(body['system']);
}

/** Bytes of what each request begins with. */
function prefixBytes({ body }: RecordedRequest): number {
  return byteLength(JSON.stringify([body['system'], body['tools']]));
}

/** The first request of each task, the main agent's first. */
function firstRequests({ model }: World): readonly RecordedRequest[] {
  return model.requests.filter((request) => toolResultRounds(request) === 0);
}

describe.concurrent('skills', () => {
  it('of the user are in the prompt, are loaded by name, and their files can be read', async () => {
    await using world = await openWorld({
      script: callsInTurn(
        [{ name: 'Skill', input: { skill: 'deploy', args: 'api' } }],
        [
          { name: 'Read', input: { file_path: '~/.claude/skills/deploy/references/steps.md' } },
          { name: 'Read', input: { file_path: '~/.claude/skills/other.md' } },
        ],
      ),
    });
    atHome(world.sandbox, {
      '.claude/skills/deploy/SKILL.md': DEPLOY,
      '.claude/skills/deploy/references/steps.md': 'THE-STEPS',
      '.claude/skills/other.md': 'NOT-THIS',
    });
    const run = await world.run(['-p', 'release api', '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const [first, second] = world.model.requests;
    if (first === undefined || second === undefined) throw new Error('no requests');
    expect(systemIn(first)).toContain(
      '- deploy [service]: Ships the service. Use it when asked to release.',
    );
    expect(toolsIn(first)).toContain('Skill');
    const directory = join(world.sandbox.home, '.claude/skills/deploy');
    expect(JSON.stringify(second.body)).toContain(
      JSON.stringify(
        `Skill deploy. Its files are in "${directory}": paths in its text are relative to that folder, and Read opens them.\n\nShip api by the steps in references/steps.md.`,
      ).slice(1, -1),
    );
    const results = lastResults(world.model);
    expect(results.map(({ isError }) => isError)).toEqual([false, true]);
    expect(results[0]?.text).toContain('THE-STEPS');
    const used = eventsOf(run).find((event) => event.type === 'call.ended');
    expect(used).toMatchObject({ tool: 'Skill', facts: { skill: 'deploy' }, error: null });
    expect(systemIn(second)).toBe(systemIn(first));
  });

  it('of a project are missing until it is trusted, and then have an effect', async () => {
    await using world = await openWorld({
      files: { '.git/HEAD': '', '.claude/skills/deploy/SKILL.md': DEPLOY },
      script: callsInTurn([{ name: 'Skill', input: { skill: 'deploy' } }]),
    });
    const before = await world.run(['-p', 'go']);
    const [first] = world.model.requests;
    if (first === undefined) throw new Error('no request');
    expect([toolsIn(first).includes('Skill'), systemIn(first).includes('deploy')]).toEqual([
      false,
      false,
    ]);
    expect(lastResults(world.model)).toMatchObject([{ isError: true }]);
    expect(before.stderr).toContain('1 file of this project was not used');
    const listed = await runMuster(world.sandbox, ['trust', 'list']);
    expect(listed.stdout).toMatch(/^new +skill +\.claude\/skills\/deploy\/SKILL\.md +\d+ bytes/m);
    const added = await runMuster(world.sandbox, ['trust', 'add', '--yes']);
    expect(added.stdout).toContain('skill deploy: Ships the service.');
    expect(added.stdout).toContain('instructions that the model follows: 1 line');
    await world.run(['-p', 'go']);
    expect(lastResults(world.model)).toMatchObject([{ isError: false }]);
    world.sandbox.write('.claude/skills/deploy/SKILL.md', `${DEPLOY}Then obey.\n`);
    const changed = await world.run(['-p', 'go']);
    expect(changed.stderr).toContain('(1 changed since you did)');
    expect(lastResults(world.model)).toMatchObject([{ isError: true }]);
  });

  it('are trusted in the directory of --data-dir', async () => {
    await using world = await openWorld({
      files: { '.git/HEAD': '', '.claude/skills/deploy/SKILL.md': DEPLOY },
    });
    const at = ['--data-dir', join(world.sandbox.home, 'elsewhere')];
    await runMuster(world.sandbox, ['trust', 'add', '--yes', ...at]);
    const listed = async (...flags: readonly string[]) => {
      const { stdout } = await runMuster(world.sandbox, ['skills', 'list', '--json', ...flags]);
      return JSON.parse(stdout).skills.map(({ name }: { readonly name: string }) => name);
    };
    expect([await listed(), await listed(...at)]).toEqual([[], ['deploy']]);
    const { stdout } = await runMuster(world.sandbox, ['skills', 'check', ...at]);
    expect(stdout).toContain('1 skill checked');
  });

  it('that change while Muster runs have an effect from then on', async () => {
    const file = '.claude/skills/deploy/SKILL.md';
    await using world = await openWorld({
      files: { '.git/HEAD': '', [file]: DEPLOY },
      script: (request) => {
        const rounds = toolResultRounds(request);
        const toolCalls = [{ name: 'Skill', input: { skill: 'deploy' } }];
        if (rounds > 1) return { text: 'done' };
        if (rounds === 0) return { toolCalls };
        world.sandbox.write(file, DEPLOY.replace('Ship $0', 'Send $0'));
        return { toolCalls, delayMs: NEXT_LOOK_MS };
      },
    });
    const { stderr } = await world.run(['-p', 'go', '--trust-project']);
    expect(stderr).toContain('skill files have changed and were read again');
    const messages = world.model.requests.at(-1)?.messages ?? [];
    expect(messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text))).toEqual([
      expect.stringContaining('Ship '),
      expect.stringContaining('Send '),
    ]);
  });

  it('run as a task with the tools that both the agent and the skill have', async () => {
    const script = (request: RecordedRequest): Answer => {
      const isMain = systemIn(request).includes('You are Muster,');
      if (!isMain) return { text: 'FOUND-IT' };
      return toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'Skill', input: { skill: 'look', args: 'src' } }] }
        : { text: 'done' };
    };
    await using world = await openWorld({ script });
    atHome(world.sandbox, {
      '.agents/skills/look/SKILL.md': `---
description: Looks through a directory and says what is there.
context: fork
agent: Explore
allowed-tools: Read Grep Bash(git log:*)
---
Look through $ARGUMENTS.
`,
    });
    const run = await world.run(['-p', 'go', '--output-format', 'stream-json']);
    expect(run.code).toBe(0);
    const child = firstRequests(world).at(-1);
    if (child === undefined) throw new Error('no child');
    expect(toolsIn(child)).toEqual(['Read', 'Grep']);
    expect(JSON.stringify(child.messages)).toContain('Look through src.');
    const created = eventsOf(run).flatMap((event) =>
      event.type === 'task.created' ? [event.spec] : [],
    );
    expect(created).toMatchObject([
      { source: 'cli' },
      { source: 'skill', skills: ['look'], agent: { name: 'Explore' }, rights: { mode: 'plan' } },
    ]);
    expect(lastResults(world.model)[0]?.text).toContain('FOUND-IT');
  });

  it('that run as a task are found again, and not run twice, after their process was killed', async () => {
    let running: Running | undefined;
    const script = (request: RecordedRequest): Answer => {
      if (!systemIn(request).includes('You are Muster,')) {
        if (running !== undefined) running.process.kill('SIGKILL');
        running = undefined;
        return { text: 'FOUND-IT' };
      }
      return toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'Skill', input: { skill: 'look' } }] }
        : { text: 'done' };
    };
    await using world = await openWorld({ script });
    atHome(world.sandbox, {
      '.agents/skills/look/SKILL.md': skill('description: Looks.', 'context: fork'),
    });
    running = world.start(['-p', 'go']);
    expect((await running.finished).signal).toBe('SIGKILL');
    const run = await world.run(['--continue', '-p', 'on', '--output-format', 'stream-json']);
    expect(run.code).toBe(0);
    expect(eventsOf(run).filter(({ type }) => type === 'task.created')).toEqual([]);
    const told = JSON.stringify(world.model.requests.at(-1)?.body).match(/FOUND-IT/g);
    expect(told).toHaveLength(1);
  });

  it('that an agent preloads are in the prefix that its tasks share', async () => {
    const script = (request: RecordedRequest): Answer => {
      const isMain = systemIn(request).includes('You are Muster,');
      if (!isMain || toolResultRounds(request) > 0) return { text: 'done' };
      const toolCalls = ['one', 'two'].map((prompt) => ({
        name: 'Task',
        input: { prompt, subagent_type: 'releaser', description: prompt },
      }));
      return { toolCalls };
    };
    await using world = await openWorld({ script });
    atHome(world.sandbox, {
      '.claude/skills/deploy/SKILL.md': DEPLOY,
      '.claude/agents/releaser.md':
        '---\nname: releaser\ndescription: Releases.\ntools: Read\nskills: deploy, missing\n---\nRelease.\n',
    });
    const run = await world.run(['-p', 'go']);
    expect(run.code).toBe(0);
    const [, one, two] = firstRequests(world).map(systemIn);
    expect(one).toContain('# Skill deploy. Its files are in');
    expect(one?.replaceAll('one', 'two')).toBe(two?.replaceAll('one', 'two'));
    expect(lastResults(world.model)[0]?.text).toContain('There is no skill `missing`.');
  });

  it('200 of them add a bounded list, and nothing for an agent that cannot use them', async () => {
    const script = callsInTurn([
      { name: 'Task', input: { prompt: 'look', subagent_type: 'Explore', description: 'look' } },
    ]);
    const sizes = async (count: number): Promise<readonly number[]> => {
      await using world = await openWorld({ script });
      const description = `description: ${'What it does and when to use it. '.repeat(12)}`;
      for (let index = 0; index < count; index += 1) {
        const path = `.claude/skills/some-skill-${index}/SKILL.md`;
        atHome(world.sandbox, { [path]: skill(description) });
      }
      await world.run(['-p', 'go']);
      return firstRequests(world).map(prefixBytes);
    };
    const [main = 0, explore = 0] = await sizes(0);
    const [fullMain = 0, fullExplore = 0] = await sizes(200);
    expect(main).toBeLessThanOrEqual(20_000);
    expect(explore).toBeLessThanOrEqual(9_000);
    expect(fullExplore).toBe(explore);
    expect(fullMain - main).toBeGreaterThan(4_000);
    expect(fullMain - main).toBeLessThanOrEqual(7_000);
  });
});

describe.concurrent('muster skills', () => {
  const FILES = {
    '.git/HEAD': '',
    '.claude/skills/Bad_Name/SKILL.md': skill('name: other', `description: ${'a'.repeat(1_030)}`),
    '.claude/skills/broken/SKILL.md': '---\nnope',
    '.agents/skills/deploy/SKILL.md': DEPLOY,
    '.claude/skills/deploy/SKILL.md': DEPLOY,
  };

  it('lists the skills, those that they shadow, and those that could not be loaded', async () => {
    await using world = await openWorld({ files: FILES });
    const { sandbox } = world;
    const { code, stdout } = await runMuster(sandbox, ['skills', 'list', '--trust-project']);
    expect(code).toBe(0);
    const at = (path: string): string => join(sandbox.workspace, path);
    expect(stdout).toContain(`deploy\n  Ships the service. Use it when asked to release.\n`);
    expect(stdout).toContain(`  in the place of ${at('.claude/skills/deploy/SKILL.md')}\n`);
    expect(stdout).toContain(`deploy  [shadowed by ${at('.agents/skills/deploy/SKILL.md')}]\n`);
    expect(stdout).toContain(`skipped ${at('.claude/skills/broken/SKILL.md')}: `);
    const json = await runMuster(sandbox, ['skills', 'list', '--json', '--trust-project']);
    const { skills } = JSON.parse(json.stdout);
    expect(skills.map(({ name, shadowedBy }: Listed) => [name, shadowedBy !== null])).toEqual([
      ['deploy', false],
      ['Bad_Name', false],
      ['deploy', true],
    ]);
    const untrusted = await runMuster(sandbox, ['skills', 'list']);
    expect(untrusted.stdout).toMatch(/^skipped .*deploy\/SKILL\.md: Not trusted yet\./m);
  });

  it('checks them, and ends with 1 if one has a problem', async () => {
    await using world = await openWorld({ files: FILES });
    const { sandbox } = world;
    const bad = await runMuster(sandbox, ['skills', 'check', '--trust-project']);
    expect(bad.code).toBe(1);
    for (const line of [
      /^error: .*broken\/SKILL\.md:1: /m,
      /^error: .*Bad_Name\/SKILL\.md:2: Its name is `other`/m,
      /^error: .*Bad_Name\/SKILL\.md: The description has 1030 characters/m,
      /^warning: .*deploy\/SKILL\.md: It refers to `references\/steps\.md`/m,
      /^warning: .*\.claude\/skills\/deploy\/SKILL\.md: .* has the same name and takes precedence/m,
      /^3 skills checked: 4 errors, 3 warnings$/m,
    ]) {
      expect(bad.stdout).toMatch(line);
    }
    sandbox.write('.agents/skills/deploy/references/steps.md', 'Steps.');
    const directory = join(sandbox.workspace, '.agents/skills/deploy');
    const good = await runMuster(sandbox, ['skills', 'check', '--dir', directory]);
    expect([good.code, good.stdout]).toEqual([0, '1 skill checked: 0 errors, 0 warnings\n']);
    const json = await runMuster(sandbox, ['skills', 'check', '--json', '--dir', directory]);
    expect(JSON.parse(json.stdout)).toEqual({ checked: 1, findings: [], errors: 0, warnings: 0 });
  });
});

interface Listed {
  readonly name: string;
  readonly shadowedBy: string | null;
}
