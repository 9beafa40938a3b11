import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  startFakeModel,
  toolResultRounds,
  type Answer,
  type FakeModel,
  type RecordedRequest,
} from '../../../src/testing/index.ts';
import { finishedSoon, reach } from '../../e2e/ending.ts';
import { findMarked } from '../../e2e/processes.ts';
import { envelopeOf } from '../../e2e/muster.ts';
import { eventsIn, taskIds } from '../../e2e/remote-world.ts';
import { openWorld, type World } from '../../e2e/world.ts';
import { installPackages } from '../../mcp/world/install.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

/** An adapter of another product: how it is started, and the call by which its model writes a file. */
interface Adapter {
  readonly packages: Readonly<Record<string, string>>;
  readonly program: string;
  readonly args: readonly string[];
  env(model: FakeModel): Readonly<Record<string, string>>;
  /** Its mode in which it asks before it writes a file. */
  readonly mode: string;
  /** The name of its tool that writes a file. */
  readonly tool: string;
  /** The tool of the task through which it writes a file; null if it writes by itself after a question. */
  readonly writesThrough: string | null;
}

const ADAPTERS: Readonly<Record<string, Adapter>> = {
  claude: {
    packages: { '@agentclientprotocol/claude-agent-acp': '0.101.0' },
    program: 'node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js',
    args: [],
    env: (model) => ({
      ANTHROPIC_BASE_URL: model.baseUrls.anthropic.replace(/\/v1$/, ''),
      ANTHROPIC_API_KEY: 'sk-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    mode: 'default',
    tool: 'Write',
    writesThrough: null,
  },
  qwen: {
    packages: { '@qwen-code/qwen-code': '0.24.4' },
    program: 'node_modules/@qwen-code/qwen-code/cli-entry.js',
    args: ['--acp'],
    env: (model) => ({
      OPENAI_BASE_URL: model.baseUrls.compatible,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_MODEL: 'fake-model',
    }),
    mode: 'default',
    tool: 'write_file',
    writesThrough: 'Write',
  },
};

/** A model that has its tool write a file, and then answers. Requests without tools are for titles and the like. */
function writing(adapter: Adapter, path: string, content: string) {
  return (request: RecordedRequest): Answer => {
    const tool = request.tools.find(({ name }) => name === adapter.tool);
    if (tool === undefined || toolResultRounds(request) > 0) return { text: 'It is done.' };
    return { toolCalls: [{ name: adapter.tool, input: { file_path: path, content } }] };
  };
}

describe.each(Object.entries(ADAPTERS))('the adapter of %s', (name, adapter) => {
  let directory = '';

  beforeAll(async () => {
    directory = await installPackages(adapter.packages);
  });

  async function openAdapter(script: (world: World) => (request: RecordedRequest) => Answer) {
    const world = await openWorld();
    const model = await startFakeModel({
      strict: false,
      script: (request) => script(world)(request),
    });
    const { home } = world.sandbox;
    mkdirSync(join(home, '.config/muster/agents'), { recursive: true });
    // The sandbox gives it a /tmp of its own, in which it can keep its state even if its task only reads.
    const env = { HOME: '/tmp', MUSTER_TEST_HOME: home, ...adapter.env(model) };
    const acp = {
      command: process.execPath,
      args: [join(directory, adapter.program), ...adapter.args],
      env,
      mode: adapter.mode,
      // It was installed below /tmp, which the sandbox hides.
      state: [directory],
    };
    writeFileSync(
      join(home, `.config/muster/agents/${name}.md`),
      `---\nname: ${name}\ndescription: Does work with ${name}.\nacp: ${JSON.stringify(acp)}\n---\n`,
    );
    return {
      world,
      model,
      run: (...args: readonly string[]) =>
        world.start(['-p', 'Write the file.', '--agent', name, '--output-format', 'json', ...args]),
      async [Symbol.asyncDispose]() {
        await world[Symbol.asyncDispose]();
        await model.close();
      },
    };
  }

  /** The processes of the adapter, whose HOME is another one than that of Muster, and of Muster. */
  const leftOf = ({ mark, sandbox }: World) => [
    ...findMarked(mark),
    ...findMarked(`MUSTER_TEST_HOME=${sandbox.home}`),
  ];
  const made = (world: World) => join(world.sandbox.workspace, 'made.txt');

  it('asks before it writes, and writes after a yes', async () => {
    await using opened = await openAdapter((world) =>
      writing(adapter, made(world), 'by the agent\n'),
    );
    const { world } = opened;
    const run = await opened.run('--permission-mode', 'autonomous').finished;
    const { data } = envelopeOf(run);
    expect(run.stderr + data.result).toContain('It is done.');
    expect(readFileSync(made(world), 'utf8')).toBe('by the agent\n');
    expect(data.files_modified).toContain(made(world));
    const [id = ''] = await taskIds(world);
    const calls = (await eventsIn(world, id)).flatMap((event) =>
      event.type === 'call.started' ? [[event.tool, JSON.stringify(event.input)] as const] : [],
    );
    const [start, ...others] = calls;
    expect(start?.[0]).toBe('RemoteStep');
    const tool = adapter.writesThrough ?? 'RemoteStep';
    const about = others.filter(([called, input]) => called === tool && input.includes('made.txt'));
    expect(about).toHaveLength(1);
    expect(leftOf(world)).toEqual([]);
  });

  it('writes nothing in a task that only reads, and its question is answered without a person', async () => {
    await using opened = await openAdapter((world) => writing(adapter, made(world), 'x'));
    const { world } = opened;
    const run = await opened.run('--permission-mode', 'plan').finished;
    expect(existsSync(made(world))).toBe(false);
    expect(envelopeOf(run).data.receipt.filesChanged).toEqual([]);
    expect(leftOf(world)).toEqual([]);
  });

  it('is stopped in the middle, and leaves no process', async () => {
    await using opened = await openAdapter(() => () => ({ text: 'never', delayMs: 600_000 }));
    const running = opened.run('--permission-mode', 'autonomous');
    const asked = waitUntilPasses(() => {
      expect(opened.model.requests.length).toBeGreaterThan(0);
      return Promise.resolve();
    });
    await reach(running, asked);
    running.process.kill('SIGTERM');
    await finishedSoon(running.finished);
    expect(leftOf(opened.world)).toEqual([]);
  });

  it('ends at the time limit of its task', async () => {
    await using opened = await openAdapter(() => () => ({ text: 'never', delayMs: 600_000 }));
    const running = opened.run('--permission-mode', 'autonomous', '--max-seconds', '20');
    const { data } = envelopeOf(await running.finished);
    expect(data.status).not.toBe('completed');
    expect(leftOf(opened.world)).toEqual([]);
  });
});
