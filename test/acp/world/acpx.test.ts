import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { quoteForShell } from '../../../src/base/text.ts';
import {
  lastUserText,
  toolResultRounds,
  type RecordedRequest,
} from '../../../src/testing/index.ts';
import { findSchemaErrors } from '../../e2e/acp-schema.ts';
import { expectShown, findTranscripts, readPage } from '../../docs/page.ts';
import { bash, openWorld, type World } from '../../e2e/world.ts';
import { installPackages } from '../../mcp/world/install.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { startProgram, type EndedProgram } from './programs.ts';
import { readWires, recordedCommand } from './recorded-wire.ts';

const installed = await installPackages({ acpx: '0.19.1' });
const CLI = join(installed, 'node_modules/acpx/dist/cli.js');

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) {
    const wires = readWires(recordedCommand(world, 'acpx').file);
    const errors = wires.flatMap((wire) => findSchemaErrors({ wire }));
    await world[Symbol.asyncDispose]();
    expect(errors).toEqual([]);
    expect(wires).not.toEqual([]);
  }
});

async function open(script: (request: RecordedRequest) => object | Promise<object>) {
  const world = await openWorld({ script });
  worlds.push(world);
  return world;
}

/** Runs the client, which starts Muster behind the recorder. It keeps Muster running between two runs. */
function acpx(world: World, args: readonly string[], flags: readonly string[] = []) {
  const { sandbox, model } = world;
  const { command, args: rest } = recordedCommand(world, 'acpx', [
    '--permission-mode',
    'default',
    ...flags,
  ]);
  const agent = [command, ...rest].map(quoteForShell).join(' ');
  return startProgram(process.execPath, [CLI, '--agent', agent, ...args], {
    cwd: sandbox.workspace,
    env: sandbox.environment(model.env('anthropic')),
  });
}

const touches = (request: RecordedRequest) =>
  toolResultRounds(request) === 0
    ? { toolCalls: [bash('touch made')] }
    : { text: `said: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` };

const ok = (stdout: unknown) => ({ code: 0, stdout, stderr: expect.anything() });

describe('acpx', () => {
  it('starts a conversation and gets its answer', async () => {
    const world = await open(() => ({ text: 'It is in a.ts.' }));
    expect(await acpx(world, ['sessions', 'new']).ended).toEqual(ok(expect.anything()));
    expect(await acpx(world, ['--format', 'quiet', 'prompt', 'Where is it?']).ended).toEqual(
      ok('It is in a.ts.\n'),
    );
    const listed = await acpx(world, ['sessions', 'list']).ended;
    expect(listed).toEqual(ok(expect.stringContaining('Where is it?')));
  });

  it.each([
    { answer: '--approve-all', made: true, code: 0 },
    { answer: '--deny-all', made: false, code: 5 },
  ])('answers a question with $answer', async ({ answer, made, code }) => {
    const world = await open(touches);
    await acpx(world, ['sessions', 'new']).ended;
    const ended = await acpx(world, [answer, 'prompt', 'Make it.']).ended;
    expect([ended.code, existsSync(join(world.sandbox.workspace, 'made'))]).toEqual([code, made]);
  });

  it('prints what docs/acp.md shows', async () => {
    const [transcript] = findTranscripts(readPage('docs/acp.md'));
    const world = await open((request) => {
      const round = toolResultRounds(request);
      if (!request.systemParts.join('\n').includes('You are Muster,')) {
        const input = { pattern: 'port', output_mode: 'content' };
        return round === 0
          ? { toolCalls: [{ name: 'Grep', input }] }
          : { text: 'src/server.ts, line 3: listen({ port: 3000 })' };
      }
      const path = 'src/server.ts';
      const task = {
        description: 'Find the port',
        prompt: 'Where is the port set?',
        subagent_type: 'Explore',
      };
      const edit = { file_path: path, old_string: 'port: 3000', new_string: 'port: 8080' };
      return (
        [
          { toolCalls: [{ name: 'Task', input: task }] },
          { toolCalls: [{ name: 'Read', input: { file_path: path } }] },
          { toolCalls: [{ name: 'Edit', input: edit }] },
        ][round] ?? { text: 'The server listens on port 8080 now (src/server.ts, line 3).' }
      );
    });
    world.sandbox.write(
      'src/server.ts',
      'import { listen } from "./http.ts";\n\nlisten({ port: 3000 });\n',
    );
    const prompt = 'Let the server listen on port 8080.';
    expect(transcript?.command).toBe(`acpx --approve-all --agent 'muster acp' exec '${prompt}'`);
    const { code, stdout } = await acpx(world, ['--approve-all', 'exec', prompt]).ended;
    expect(code).toBe(0);
    expectShown(
      stdout.replaceAll(world.sandbox.workspace, '/home/ann/shop'),
      (transcript?.shown ?? []).filter((line) => line !== ''),
    );
  });

  it('cancels a turn in the middle of a subagent, and goes on', async () => {
    const begun = Promise.withResolvers<void>();
    const world = await open((request) => {
      if (lastUserText(request).includes('And now?')) return { text: 'All is well.' };
      if (request.systemParts.join('\n').includes('You are Muster,')) {
        const input = { prompt: 'Look.', subagent_type: 'Explore', description: 'Look' };
        return { toolCalls: [{ name: 'Task', input }] };
      }
      begun.resolve();
      return { text: 'never read', delayMs: 20_000 };
    });
    await acpx(world, ['sessions', 'new']).ended;
    const turn = acpx(world, ['prompt', 'Delegate.']);
    await begun.promise;
    await acpx(world, ['cancel']).ended;
    expect((await turn.ended).stdout).toContain('[done] cancelled');
    expect(await acpx(world, ['--format', 'quiet', 'prompt', 'And now?']).ended).toEqual(
      ok('All is well.\n'),
    );
    const stored = await world.run(['tasks', 'list', '--json']);
    const tasks: { status: string }[] = JSON.parse(stored.stdout);
    expect(tasks.map(({ status }) => status).toSorted()).toEqual(['completed', 'stopped']);
  });

  it('continues a conversation in another process of Muster', async () => {
    const world = await open(({ messages }) => ({ text: `${messages.length} messages` }));
    await acpx(world, ['sessions', 'new']).ended;
    await acpx(world, ['prompt', 'One.']).ended;
    await acpx(world, ['sessions', 'close']).ended;
    const stored = await world.run(['tasks', 'list', '--json']);
    const [task]: { id: string }[] = JSON.parse(stored.stdout);
    const id = task?.id ?? '';
    const resumed = acpx(world, ['sessions', 'new', '--resume-session', id]);
    expect(await resumed.ended).toEqual(ok(expect.stringContaining(id)));
    expect(await acpx(world, ['--format', 'quiet', 'prompt', 'Two.']).ended).toEqual(
      ok('3 messages\n'),
    );
  });

  it('has three conversations at once, each with a process of Muster', async () => {
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    const world = await open(async (request) => {
      waiting += 1;
      if (waiting === 3) all.resolve();
      await all.promise;
      return { text: `to ${lastUserText(request)}` };
    });
    const names = ['a', 'b', 'c'];
    for (const name of names) await acpx(world, ['sessions', 'new', '--name', name]).ended;
    const answers: readonly EndedProgram[] = await Promise.all(
      names.map((name) => acpx(world, ['--format', 'quiet', 'prompt', '-s', name, name]).ended),
    );
    expect(answers).toEqual(names.map((name) => ok(`to ${name}\n`)));
    await waitUntilPasses(async () => {
      const stored = await world.run(['tasks', 'list', '--json']);
      const tasks: { status: string; source: string }[] = JSON.parse(stored.stdout);
      expect(tasks.map(({ status, source }) => [status, source])).toEqual(
        names.map(() => ['completed', 'acp']),
      );
    });
  });
});
