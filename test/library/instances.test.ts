import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMuster, type MusterOptions } from '../../src/library.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { makeDirectory, open } from './support.ts';

const model = createScriptedModel(() => ({ text: 'ok' }));

describe('createMuster', () => {
  it.each<[object, RegExp]>([
    [{}, /name a model .*or set `inherit: true`/],
    [{ model, modle: 'x' }, /unknown option "modle". Did you mean model/],
    [{ model, tools: 'Read' }, /tools must be array, not string/],
    [{ model: {} }, /model: must be a model's name, a model object of the AI SDK, or a ModelPort/],
    [{ model, agents: { a: { description: 'A.' } } }, /`a` must be an object with a `prompt`/],
    [
      { model, agents: { a: { description: 'A.', prompt: 'A.', tols: [] } } },
      /Unknown fields: tols/,
    ],
    [
      { model, agents: { a: { description: 'A.', prompt: 'A.', tools: ['Raed'] } } },
      /Unknown tool `Raed`/,
    ],
    [
      { model, config: { task_tool: { max_depht: 3 } } },
      /config.task_tool.max_depht: unknown key "max_depht"/,
    ],
    [{ model, config: { task_tool: { max_depth: 'three' } } }, /task_tool.max_depth must be/],
    [{ model, allow: ['Bsh(ls)'] }, /allow: rule "Bsh\(ls\)".*did you mean Bash/],
    [{ model, mode: 'careless' }, /permissions.mode|mode.*must be one of/],
    [{ model: 'anthropic/claude-sonnet-4-5' }, /models.default: .*needs a key/],
  ])('refuses %o', async (options, message) => {
    await expect(createMuster({ cwd: makeDirectory(), ...options })).rejects.toThrow(message);
  });

  it('reads nothing of the user unless it is asked to', async () => {
    const home = makeDirectory();
    const files: Readonly<Record<string, string>> = {
      '.config/muster/config.toml': '[task_tool]\nmax_depth = 7\n',
      '.config/muster/agents/mine.md': '---\ndescription: Mine.\n---\nYou are mine.\n',
      '.claude/agents/other.md': '---\nname: other\ndescription: Other.\n---\nYou are other.\n',
      '.claude/CLAUDE.md': 'SECRET-INSTRUCTION\n',
      '.claude/settings.json': '{"permissions":{"deny":["Read"]}}',
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(home, name, '..'), { recursive: true });
      writeFileSync(join(home, name), text);
    }
    const environment = { HOME: home, PATH: process.env['PATH'], MUSTER_PERMISSIONS_MODE: 'plan' };
    const see = async (options: Partial<MusterOptions>) => {
      const seen = createScriptedModel(() => ({ text: 'ok' }));
      const muster = await open({ model: seen, ...options });
      const { data } = await muster.run('Go.');
      const [request] = seen.requests;
      return {
        agents: muster.agents
          .map(({ name }) => name)
          .filter((name) => ['mine', 'other'].includes(name)),
        instruction: request?.prefix.system.join('\n').includes('SECRET-INSTRUCTION'),
        hasRead: request?.prefix.tools.some(({ name }) => name === 'Read'),
        transcript: data.transcript !== null,
      };
    };
    // The process of the test stands for that of a program whose user has these files.
    const before = { ...process.env };
    Object.assign(process.env, environment);
    try {
      expect(await see({})).toEqual({
        agents: [],
        instruction: false,
        hasRead: true,
        transcript: false,
      });
      expect(readdirSync(home).toSorted()).toEqual(['.claude', '.config']);
      expect(await see({ inherit: true })).toEqual({
        agents: ['mine', 'other'],
        instruction: true,
        hasRead: false,
        transcript: true,
      });
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  it('gives commands a neutral environment, and the variables of the program', async () => {
    const script = createScriptedModel((_request, index) =>
      index === 0
        ? {
            calls: [
              {
                name: 'Bash',
                input: { command: 'echo "$HOME $MUSTER_SECRET_OF_TEST $OWN_VALUE"' },
              },
            ],
          }
        : { text: 'ok' },
    );
    process.env['MUSTER_SECRET_OF_TEST'] = 'leaked';
    try {
      const muster = await open({
        model: script,
        allow: ['Bash'],
        environment: { OWN_VALUE: 'given' },
        config: { sandbox: { kind: 'off', env: ['OWN_VALUE'] } },
      });
      await muster.run('Go.');
    } finally {
      delete process.env['MUSTER_SECRET_OF_TEST'];
    }
    const result = script.requests.at(-1)?.messages.at(-1);
    expect(result?.role === 'tool' && result.content[0]?.text).toContain('/nonexistent  given');
  });
});

it('ten instances with different directories, models, rights and agents do not see each other', async () => {
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  const ran = await Promise.all(
    numbers.map(async (n) => {
      const cwd = makeDirectory();
      writeFileSync(join(cwd, 'name.txt'), `I am ${n}\n`);
      const own = createScriptedModel((request, index) =>
        index === 0
          ? {
              calls: [
                { name: 'Read', input: { file_path: 'name.txt' } },
                { name: 'Write', input: { file_path: 'out.txt', content: `${n}` } },
              ],
            }
          : { text: JSON.stringify(request.messages.at(-1)).match(/I am \d/)?.[0] ?? 'nobody' },
      );
      const muster = await open({
        cwd,
        model: own,
        mode: n % 2 === 0 ? 'acceptEdits' : 'plan',
        agents: { [`agent-${n}`]: { description: 'Own.', prompt: 'You are own.' } },
      });
      const { output, data } = await muster.run('Who are you?');
      return {
        output,
        agents: muster.agents.map(({ name }) => name).filter((name) => name.startsWith('agent-')),
        tasks: muster.listTasks().length,
        changed: data.files_modified.map((path) => path.replace(cwd, '')),
      };
    }),
  );
  expect(ran).toEqual(
    numbers.map((n) => ({
      output: `I am ${n}`,
      agents: [`agent-${n}`],
      tasks: 1,
      changed: n % 2 === 0 ? ['/out.txt'] : [],
    })),
  );
});

it('after close, Node ends by itself, and no lock and no process is left', () => {
  const directory = makeDirectory();
  const program = `
    import { createMuster } from ${JSON.stringify(join(import.meta.dirname, '../../src/library.ts'))};
    import { createScriptedModel } from ${JSON.stringify(join(import.meta.dirname, '../scripted-model.ts'))};
    const model = createScriptedModel((request, index) => index === 0
      ? { calls: [{ name: 'Bash', input: { command: 'sleep 300', run_in_background: true } }] }
      : { text: 'done', delayMs: 100_000 });
    const muster = await createMuster({ model, dataDir: ${JSON.stringify(join(directory, 'data'))}, cwd: ${JSON.stringify(directory)}, allow: ['Bash'], config: { sandbox: { kind: 'off' } } });
    const run = muster.run('Go.');
    for await (const event of run) if (event.type === 'call.ended') await muster.close();
    console.log((await run).data.status);
  `;
  writeFileSync(join(directory, 'program.ts'), program);
  const printed = execFileSync(process.execPath, [join(directory, 'program.ts')], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect(printed).toBe('stopped\n');
  const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  expect(left).not.toContain('sleep 300');
  expect(
    readdirSync(join(directory, 'data'), { recursive: true }).filter((name) =>
      String(name).endsWith('.lock'),
    ),
  ).toEqual([]);
});
