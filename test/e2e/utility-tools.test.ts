import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { openWorld } from './world.ts';

const call = (name: string, input: AnswerToolCall['input']): AnswerToolCall => ({ name, input });

/** A definition in S0's format, with S0's names for tools. */
function definition(name: string, tools: string): Readonly<Record<string, string>> {
  const text = `---\nname: ${name}\ndescription: "Does small work"\ntools: "${tools}"\n---\n\nYou help.\n`;
  return { [`subagents/${name}/SUBAGENT.md`]: text };
}

/** The main agent delegates once; its child makes these calls, one message after another. */
function delegating(type: string, messages: readonly (readonly AnswerToolCall[])[]) {
  return (request: RecordedRequest): Answer => {
    const round = toolResultRounds(request);
    if (firstUserText(request).startsWith('small work')) {
      const toolCalls = messages[round];
      return toolCalls === undefined ? { text: 'all done' } : { toolCalls };
    }
    if (round > 0) return { text: 'done' };
    const input = { prompt: 'small work', description: 'Small work', subagent_type: type };
    return { toolCalls: [call('Task', input)] };
  };
}

const isChild = (request: RecordedRequest): boolean =>
  firstUserText(request).startsWith('small work');

const GENERAL =
  'current_time, sleep, get_env, set_env, read_file, write_file, list_files, delete_file, move_file, ' +
  'get_file_info, edit_file, grep_files, http_get, http_post, http_request, web_search, json_parse, ' +
  'json_stringify, base64_encode, base64_decode, memory_list, memory_read, memory_write, memory_patch, ' +
  'memory_append, task_list, task_replay, notify';

const ARGS = ['-p', 'go', '--trust-project', '--permission-mode', 'autonomous'];

describe.concurrent('the built program', () => {
  it("runs a definition with S0's names, and each tool answers by them", async () => {
    const names =
      'current_time, base64_encode, json_parse, get_file_info, move_file, delete_file, sleep';
    await using world = await openWorld({
      files: { ...definition('helper', names), 'a.txt': 'one\n', 'old.txt': 'old\n' },
      script: delegating('helper', [
        [
          call('current_time', { timezone: 'UTC' }),
          call('base64_encode', { text: 'hello' }),
          call('json_parse', { text: '{"a":[1,2]}', path: 'a[1]' }),
          call('get_file_info', { path: 'a.txt' }),
          call('sleep', { seconds: 0 }),
        ],
        [
          call('move_file', { source: 'a.txt', destination: 'new/b.txt' }),
          call('delete_file', { path: 'old.txt' }),
        ],
      ]),
    });
    const run = await world.run([...ARGS, '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const child = world.model.requests.find(isChild);
    expect(child?.tools.map(({ name }) => name)).toEqual([
      'CurrentTime',
      'Sleep',
      'JsonParse',
      'Base64Encode',
      'FileInfo',
      'MoveFile',
      'DeleteFile',
    ]);
    const ended = eventsOf(run).flatMap((event) =>
      event.type === 'call.ended' && event.tool !== 'Task' ? [event] : [],
    );
    expect(Object.fromEntries(ended.map(({ tool, text, error }) => [tool, error ?? text]))).toEqual(
      {
        CurrentTime: expect.stringMatching(
          /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00, \w+day, UTC, Unix/,
        ),
        Base64Encode: 'aGVsbG8=',
        JsonParse: '2',
        FileInfo: expect.stringMatching(
          /^a\.txt: a file, 4 bytes\n.*\ntext, UTF-8, 1 line\nsha256 /,
        ),
        Sleep: '0 s have passed.',
        MoveFile: 'Moved the file a.txt to new/b.txt.',
        DeleteFile: 'Deleted the file old.txt.',
      },
    );
    const { workspace } = world.sandbox;
    expect(readFileSync(join(workspace, 'new/b.txt'), 'utf8')).toBe('one\n');
    expect(['a.txt', 'old.txt'].filter((name) => existsSync(join(workspace, name)))).toEqual([]);
    expect(envelopeOf(run).data.files_modified.toSorted()).toEqual(
      ['a.txt', 'new/b.txt', 'old.txt'].map((name) => join(workspace, name)),
    );
    // What is asked for by name is in nobody else's requests.
    const main = world.model.requests.find((request) => !isChild(request));
    expect(main?.tools.map(({ name }) => name)).not.toContain('MoveFile');
  });

  it("gives S0's general type all of its tools that are built", async () => {
    await using world = await openWorld({
      files: definition('worker', GENERAL),
      script: delegating('worker', []),
    });
    const run = await world.run(ARGS);
    expect(run.code).toBe(0);
    expect(run.stderr).toBe('');
    expect(world.model.requests.find(isChild)?.tools.map(({ name }) => name)).toEqual([
      'Read',
      'Write',
      'Edit',
      'LS',
      'Grep',
      'WebFetch',
      'WebSearch',
      'Notify',
      'TaskList',
      'TaskReplay',
      'HttpRequest',
      'MemoryList',
      'MemoryRead',
      'MemoryWrite',
      'MemoryPatch',
      'MemoryAppend',
      'CurrentTime',
      'Sleep',
      'GetEnv',
      'SetEnv',
      'JsonParse',
      'JsonStringify',
      'Base64Encode',
      'Base64Decode',
      'FileInfo',
      'MoveFile',
      'DeleteFile',
    ]);
  });

  it('ends a sleep at once when it is told to stop', async () => {
    await using world = await openWorld({
      files: definition('helper', 'sleep'),
      script: delegating('helper', [[call('sleep', { seconds: 300 })]]),
    });
    const running = world.start([...ARGS, '--output-format', 'stream-json']);
    await new Promise<void>((done) => {
      running.process.stdout?.on('data', () => {
        if (
          /"type":"call\.started"[^\n]*"Sleep"|"Sleep"[^\n]*"call\.started"/.test(running.output())
        )
          done();
      });
    });
    running.process.kill('SIGINT');
    const run = await running.finished;
    expect([run.code, envelopeOf(run).error?.code]).toEqual([130, 'CANCELLED']);
  });

  it('sets variables for the commands of one task', async () => {
    const show = call('Bash', { command: 'printf "<%s>" "$SHADE"; true' });
    await using world = await openWorld({
      bare: true,
      files: definition('setter', 'set_env, get_env, run_shell_command'),
      script: delegating('setter', [
        [call('set_env', { name: 'SHADE', value: 'blue' }), show],
        [call('get_env', { name: 'SHADE' })],
      ]),
    });
    const run = await world.run([...ARGS, '--allow', 'SetEnv', '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, expect.any(String)]);
    const ended = eventsOf(run).flatMap((event) =>
      event.type === 'call.ended' && event.tool !== 'Task' ? [event.text] : [],
    );
    expect(ended).toEqual([
      'SHADE is set for your later commands, not for those of other tasks.',
      expect.stringContaining('<blue>'),
      'SHADE=blue',
    ]);
  });
});
