import type { EventBody } from '../../src/protocol/events/event.ts';

/** The number of events of one turn, as the loop writes them: the answer, one call and its result. */
export const EVENTS_PER_TURN = 5;

const TEXT = 'Now I look at the first file that the search found.';
const READ_RESULT = '   12\tthe parser reads one line at a time\n'.repeat(10);

export function turnEvents(turn: number): readonly EventBody[] {
  const callId = `call_${turn}`;
  const input = { file_path: `src/part-${turn}.ts` };
  const model = 'fake/model';
  return [
    { type: 'turn.started', turn, inputs: [], model, toolChoice: 'auto' },
    { type: 'turn.accepted', turn },
    {
      type: 'turn.ended',
      turn,
      message: {
        role: 'assistant',
        content: [
          { type: 'text', text: TEXT },
          { type: 'tool_call', id: callId, name: 'Read', input },
        ],
      },
      usage: { input: 900, output: 40, cacheRead: 12_000, cacheWrite: 300, reasoning: 0 },
      costUsd: 0.01,
      reason: 'tool_calls',
      model,
      ms: 1200,
    },
    { type: 'call.started', callId, tool: 'Read', input },
    { type: 'call.ended', callId, tool: 'Read', text: READ_RESULT, error: null, facts: {}, ms: 1 },
  ];
}
