import { expect, it } from 'vitest';
import { buildHookInput } from '../../src/hooks/hook-input.ts';
import { makeOccasion, makeTask } from './samples.ts';

const BASE = {
  session_id: 'root',
  transcript_path: '/data/root.jsonl',
  cwd: '/p',
  permission_mode: 'default',
  muster_mode: 'default',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 'c1',
};

it('describes the conversation, the mode and the event', () => {
  expect(buildHookInput(makeOccasion())).toEqual(BASE);
});

it.each([
  ['plan', 'plan'],
  ['default', 'default'],
  ['acceptEdits', 'acceptEdits'],
  ['autonomous', 'bypassPermissions'],
] as const)('gives the mode %s the name %s as well', (mode, name) => {
  const input = buildHookInput(makeOccasion({ task: makeTask({ mode }) }));
  expect(input).toEqual({ ...BASE, permission_mode: name, muster_mode: mode });
});

it('describes a subagent', () => {
  const child = { id: 'c', parentId: 'root', agentType: 'reviewer', depth: 1, logFile: '/data/c' };
  expect(buildHookInput(makeOccasion({ task: makeTask(child) }))).toEqual({
    ...BASE,
    agent_id: 'c',
    agent_type: 'reviewer',
    agent_transcript_path: '/data/c',
    parent_agent_id: 'root',
    depth: 1,
  });
});

it('keeps the fields about the task, whatever the event adds', () => {
  const fields = { session_id: 'x', cwd: '/x', hook_event_name: 'x', muster_mode: 'x', a: 1 };
  const { tool_name: _name, tool_input: _input, tool_use_id: _id, ...base } = BASE;
  expect(buildHookInput(makeOccasion({ fields }))).toEqual({ ...base, a: 1 });
});
