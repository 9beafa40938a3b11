import type { EventBody, TaskEvent } from '../../src/protocol/events/event.ts';
import type { EndStatus } from '../../src/protocol/result.ts';
import type { TaskSpec } from '../../src/protocol/task.ts';
import { addToSummary } from '../../src/store/log/task-summary.ts';
import type { TaskSummary } from '../../src/store/task-store.ts';

export function taskSpec(id: string, change: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id,
    root: id,
    parent: null,
    parentCall: null,
    depth: 0,
    agent: {
      name: 'Explore',
      aliases: ['explore'],
      description: 'looks around',
      prompt: 'You look around.',
      tools: { mode: 'allow', names: ['Read'] },
      disallowedTools: [],
      permissionMode: 'plan',
      mode: 'plan',
      limits: { maxTurns: 30 },
      origin: { scope: 'builtin', vendor: 'muster', path: 'builtin:Explore' },
      extra: {},
      problems: [],
    },
    description: 'find the parser',
    prompt: 'Where is the parser?',
    model: { provider: 'scripted', id: 'one', chain: ['flag'] },
    cwd: '/work',
    rights: {
      mode: 'plan',
      rules: { allow: [], ask: [], deny: [] },
      disallowedTools: [],
      roots: ['/work'],
      network: false,
      depth: 0,
      maxDepth: 2,
    },
    tools: ['Read'],
    limits: { maxTurns: 30, maxTokens: null, wallMs: null, resultMaxTokens: 2000 },
    prefix: '0'.repeat(64),
    handed: [],
    background: false,
    source: 'cli',
    params: {},
    ...change,
  };
}

export function warning(message: string): EventBody {
  return { type: 'warning', message };
}

export function turnEnded(
  change: Partial<Extract<EventBody, { type: 'turn.ended' }>> = {},
): EventBody {
  return {
    type: 'turn.ended',
    turn: 1,
    message: { role: 'assistant', content: [{ type: 'text', text: 'here' }] },
    usage: { input: 100, output: 20, cacheRead: 1000, cacheWrite: 5, reasoning: 7 },
    costUsd: 0.25,
    reason: 'stop',
    model: 'scripted/two',
    ms: 12,
    ...change,
  };
}

export function taskEnded(status: EndStatus = 'completed'): EventBody {
  return {
    type: 'task.ended',
    end: { status, error: null, by: null, because: 'it answered' },
    result: 'x',
  };
}

/** The messages of all warnings, which most tests append. */
export function warnings(events: readonly TaskEvent[]): readonly string[] {
  return events.filter((event) => event.type === 'warning').map((event) => event.message);
}

/** Summarizes the events of a log. */
export function summarizeEvents(events: readonly TaskEvent[]): TaskSummary | undefined {
  return events.reduce(addToSummary, undefined);
}
