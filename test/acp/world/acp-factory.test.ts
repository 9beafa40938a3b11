import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lastUserText, toolResultRounds } from '../../../src/testing/index.ts';
import { findSchemaErrors } from '../../e2e/acp-schema.ts';
import { bash, openWorld, type World } from '../../e2e/world.ts';
import { installPackages } from '../../mcp/world/install.ts';
import { startProgram } from './programs.ts';
import { readWires, recordedCommand } from './recorded-wire.ts';

const installed = await installPackages({ 'acp-factory': '0.1.14' });

interface Driven {
  readonly results: readonly {
    readonly id: string;
    readonly said: string;
    readonly modes: readonly string[];
  }[];
  readonly asked: readonly { readonly sessionId: string; readonly title: string }[];
}

interface Actions {
  readonly prompts: readonly string[];
  /** The kind of the option that is chosen. */
  readonly answer: 'allow_once' | 'reject_once';
  /** The id of a conversation that exists. Default: each prompt begins a new one. */
  readonly load?: string;
}

/** Drives one process of Muster with acp-factory, which is built on version 0.18 of the SDK. */
async function drive(world: World, actions: Actions): Promise<Driven> {
  const { sandbox, model } = world;
  const agent = recordedCommand(world, 'acp-factory', ['--permission-mode', 'default']);
  const driver = join(import.meta.dirname, 'acp-factory-driver.mjs');
  const script = JSON.stringify({ ...agent, cwd: sandbox.workspace, ...actions });
  const { ended } = startProgram(process.execPath, [driver, installed, script], {
    cwd: sandbox.workspace,
    env: sandbox.environment(model.env('anthropic')),
  });
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

function expectValidMessages(world: World, connections: number): void {
  const wires = readWires(recordedCommand(world, 'acp-factory').file);
  expect(wires).toHaveLength(connections);
  expect(wires.flatMap((wire) => findSchemaErrors({ wire }))).toEqual([]);
}

it('acp-factory has three conversations in one process, and continues one in another process', async () => {
  const all = Promise.withResolvers<void>();
  let waiting = 0;
  await using world = await openWorld({
    script: async (request) => {
      waiting += 1;
      if (waiting === 3) all.resolve();
      await all.promise;
      return { text: `${request.messages.length}: to ${lastUserText(request)}` };
    },
  });
  const first = await drive(world, { prompts: ['a', 'b', 'c'], answer: 'allow_once' });
  expect(first.results).toEqual(
    ['a', 'b', 'c'].map((name) => ({
      id: expect.stringMatching(/^[a-z0-9]{12}$/),
      said: `1: to ${name}`,
      modes: ['plan', 'default', 'acceptEdits', 'autonomous'],
    })),
  );
  const load = first.results[1]?.id ?? '';
  const second = await drive(world, { prompts: ['and?'], answer: 'allow_once', load });
  // The client counts what was said before to the first prompt.
  expect(second.results.map(({ id, said }) => [id, said])).toEqual([[load, '1: to b3: to and?']]);
  expectValidMessages(world, 2);
});

it.each(['allow_once', 'reject_once'] as const)(
  'acp-factory answers a question with %s',
  async (answer) => {
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) === 0 ? { toolCalls: [bash('touch made')] } : { text: 'done' },
    });
    const { results, asked } = await drive(world, { prompts: ['Make it.'], answer });
    expect(asked).toEqual([{ sessionId: results[0]?.id, title: 'main: Bash: touch made' }]);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(answer === 'allow_once');
    expectValidMessages(world, 1);
  },
);
