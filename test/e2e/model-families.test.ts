import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { openWorld } from './world.ts';

const PATCH = `*** Begin Patch
*** Update File: greet.py
@@ def greet():
-    return "Hi"
+    return "Hello \u{1F44B}"
*** Add File: notes.txt
+one
*** End Patch
`;

/** Calls a tool in the first round and answers in the second. */
const callOnce =
  (name: string, input: Record<string, unknown>) =>
  (request: RecordedRequest): Answer =>
    toolResultRounds(request) === 0
      ? { toolCalls: [{ name, input: JSON.parse(JSON.stringify(input)) }], chunks: 7 }
      : { text: 'Done.' };

const toolNames = (request: RecordedRequest | undefined) =>
  request?.tools.map(({ name }) => name) ?? [];

it.concurrent('a model of OpenAI writes patches as free text', async ({ expect: check }) => {
  await using world = await openWorld({
    protocol: 'responses',
    modelName: 'openai/gpt-5.2',
    script: callOnce('apply_patch', { input: PATCH }),
  });
  const { sandbox, model } = world;
  writeFileSync(join(sandbox.workspace, 'greet.py'), 'def greet():\n    return "Hi"\n');
  const args = ['-p', 'Greet.', '--permission-mode', 'acceptEdits', '--output-format', 'json'];
  const { code, stdout } = await world.run(args);
  check(code).toBe(0);
  const [first, second] = model.requests;
  check(toolNames(first)).toEqual(
    check.arrayContaining(['read_file', 'list_dir', 'grep_files', 'shell_command', 'update_plan']),
  );
  for (const name of ['Write', 'Edit', 'MultiEdit', 'PatchFiles', 'Read', 'Bash']) {
    check(toolNames(first)).not.toContain(name);
  }
  check(first?.tools.find(({ name }) => name === 'apply_patch')?.grammar).toMatch(
    /^start: begin_patch hunk\+ end_patch\n/,
  );
  check(first?.tools.find(({ name }) => name === 'shell_command')?.description).toContain(
    'For files prefer read_file, apply_patch, Glob and grep_files.',
  );
  check(second?.messages.at(-2)?.toolCalls).toMatchObject([
    { name: 'apply_patch', input: { input: PATCH } },
  ]);
  check(second?.messages.at(-1)?.toolResults[0]?.text).toContain('M greet.py: 1 change at line 2');
  check(readFileSync(join(sandbox.workspace, 'greet.py'), 'utf8')).toBe(
    'def greet():\n    return "Hello \u{1F44B}"\n',
  );
  check(readFileSync(join(sandbox.workspace, 'notes.txt'), 'utf8')).toBe('one\n');
  check(JSON.parse(stdout)).toMatchObject({ status: 'success' });
});

it.concurrent('a patch that deletes a file is no mere edit', async ({ expect: check }) => {
  const patch = '*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch';
  await using world = await openWorld({
    protocol: 'responses',
    modelName: 'openai/gpt-5.2',
    script: callOnce('apply_patch', { input: patch }),
  });
  const { sandbox, model } = world;
  const path = join(sandbox.workspace, 'gone.txt');
  writeFileSync(path, 'x\n');
  const args = [
    '-p',
    'Delete it.',
    '--permission-mode',
    'acceptEdits',
    '--model',
    'openai/gpt-5.2',
  ];
  await world.run([...args, '--allow', 'Edit']);
  check(model.requests.at(-1)?.messages.at(-1)?.toolResults[0]).toMatchObject({ isError: false });
  check(model.requests.at(-1)?.messages.at(-1)?.toolResults[0]?.text).toContain('DeleteFile');
  check(existsSync(path)).toBe(true);
});

it.concurrent.each([
  ['responses', 'openai/gpt-4.1', 'apply_patch', { input: PATCH }],
  ['chat', 'gpt-5.2', 'apply_patch', { input: PATCH }],
  [
    'google',
    'google/gemini-3-pro-preview',
    'write_file',
    { file_path: 'notes.txt', content: 'one\n' },
  ],
  ['chat', 'qwen3-coder', 'write_file', { file_path: 'notes.txt', content: 'one\n' }],
  ['chat', 'kimi-k2', 'WriteFile', { path: 'notes.txt', content: 'one\n' }],
  ['chat', 'glm-5', 'Write', { file_path: 'notes.txt', content: 'one\n' }],
  ['chat', 'deepseek-v3.2', 'Write', { file_path: 'notes.txt', content: 'one\n' }],
  ['anthropic', 'anthropic/claude-sonnet-5', 'Write', { file_path: 'notes.txt', content: 'one\n' }],
] as const)('over %s, %s calls %s', async (protocol, name, tool, input) => {
  const modelName = name.includes('/') ? { modelName: name } : {};
  await using world = await openWorld({ protocol, ...modelName, script: callOnce(tool, input) });
  const { sandbox, model } = world;
  writeFileSync(join(sandbox.workspace, 'greet.py'), 'def greet():\n    return "Hi"\n');
  const env = protocol === 'chat' ? { LLM_MODEL_ID: name } : {};
  await world.run(['-p', 'Note it.', '--permission-mode', 'acceptEdits'], { env });
  const [first] = model.requests;
  expect(toolNames(first)).toContain(tool);
  expect(first?.tools.every(({ grammar }) => grammar === undefined)).toBe(true);
  expect(readFileSync(join(sandbox.workspace, 'notes.txt'), 'utf8')).toBe('one\n');
});
