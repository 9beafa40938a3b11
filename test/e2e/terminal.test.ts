import { chmodSync, mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { openWorld } from './world.ts';

/** Steers a terminal, swallows what follows, hides, turns around. */
const HOSTILE =
  'safe\u001b]0;title\u0007\u001b[2J\u001b]52;c;eA==\u009b31m\u0090q\u0008\rover\u0000\u007f\u0085\u001b[';
/** Also deceives the eye; a pipe gets it as it is, a screen never. */
const DECEITFUL = `${HOSTILE}\u202e\u{e0041}ad\u200bmin`;

// oxlint-disable-next-line no-control-regex -- what is looked for
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const DECEIVING = /[\u200b\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u;

const isChild = ({ system }: RecordedRequest) => system.includes('subagent of Muster');

const AGENTS = JSON.stringify({
  sly: { description: DECEITFUL, prompt: DECEITFUL, tools: 'Read, Notify' },
});

it('no output of any command controls a terminal, whoever wrote the shown text', async () => {
  await using world = await openWorld({
    files: {
      '.muster/agents/sly.md': `---\nname: "s\\e[2Jly"\ndescription: "\\e]0;x\\a ${'\u202e'}"\n---\n`,
    },
    script: (request) => {
      const rounds = toolResultRounds(request);
      if (isChild(request)) {
        if (rounds > 0) return { text: DECEITFUL };
        const read = { name: 'Read', input: { file_path: DECEITFUL } };
        return { toolCalls: [{ name: 'Notify', input: { message: DECEITFUL } }, read] };
      }
      if (rounds > 0) return { text: DECEITFUL };
      const input = { prompt: DECEITFUL, description: DECEITFUL, subagent_type: 'general-purpose' };
      return {
        toolCalls: [
          { name: 'Task', input },
          { name: DECEITFUL, input: {} },
        ],
      };
    },
  });
  const first = await world.run([
    '-p',
    DECEITFUL.replaceAll('\0', ''),
    '--verbose',
    '--agents',
    AGENTS,
  ]);
  expect([first.code, first.stderr]).toEqual([0, expect.any(String)]);
  expect(first.stdout).toMatch(/^safe/);
  expect(first.stdout.replaceAll('\r', '')).not.toMatch(STEERING);
  expect(first.stderr).toContain('safe');
  const ids: readonly { id: string; parent: string | null }[] = JSON.parse(
    (await world.run(['tasks', 'list', '--json'])).stdout,
  );
  const root = ids.find(({ parent }) => parent === null)?.id ?? '';
  const child = ids.find(({ parent }) => parent !== null)?.id ?? '';
  const sly = 'x\u001b[2J\u202e';
  const commands: readonly (readonly string[])[] = [
    ['tasks', 'list'],
    ['tasks', 'list', '--json'],
    ['tasks', 'show', child],
    ['tasks', 'show', child, '--json'],
    ['tasks', 'log', child],
    ['tasks', 'log', root, '--json'],
    ['tasks', 'watch', root],
    ['tasks', 'watch', root, '--json'],
    ['tasks', 'stop', child],
    ['tasks', 'show', sly],
    ['tasks', 'export', sly],
    ['tasks', 'import', sly],
    ['agents', 'list', '--trust-project'],
    ['agents', 'list', '--trust-project', '--json'],
    ['models', '--cwd', sly],
    ['config', 'show'],
    ['config', 'show', '--json'],
    ['doctor', '--data-dir', sly],
    ['doctor', '--data-dir', sly, '--json'],
    [sly],
    [`--${sly}`],
    ['-p', 'x', '--agent', sly],
    ['-p', 'x', '--model', sly],
    ['tasks', 'delete', root],
  ];
  for (const args of commands) {
    const { stdout, stderr } = await world.run(args, {
      env: { MUSTER_MODELS_DEFAULT: args[0] === 'config' ? sly : '' },
    });
    // The text of an answer in a pipe keeps every character but controls.
    const isAnswer = args[1] === 'show' && args[2] === child;
    expect([args, STEERING.exec(stdout.replaceAll('\r', ''))?.index]).toEqual([args, undefined]);
    expect([args, STEERING.exec(stderr)?.index]).toEqual([args, undefined]);
    expect([args, isAnswer ? undefined : DECEIVING.exec(stdout)?.index]).toEqual([args, undefined]);
    expect([args, DECEIVING.exec(stderr)?.index]).toEqual([args, undefined]);
  }
});

it('JSON output has the exact text, escaped', async () => {
  await using world = await openWorld({ script: () => ({ text: DECEITFUL }) });
  for (const format of ['json', 'stream-json']) {
    const run = await world.run(['-p', 'x', '--output-format', format]);
    expect(run.stdout).not.toMatch(STEERING);
    expect(run.stdout).not.toMatch(DECEIVING);
    expect(envelopeOf(run).data.result).toBe(DECEITFUL);
    if (format === 'stream-json') expect(eventsOf(run).length).toBeGreaterThan(3);
  }
});

it('a state directory that others can write to is refused in one line that says what to do', async () => {
  await using world = await openWorld();
  const { data } = world.sandbox;
  mkdirSync(data);
  chmodSync(data, 0o777);
  const run = await world.run(['-p', 'x']);
  expect(run).toMatchObject({ code: 2, stdout: '' });
  expect(run.stderr.trimEnd().split('\n').at(-1)).toBe(
    `muster: others can write to the data directory ${data} (mode 777): run chmod go-w on it`,
  );
});
