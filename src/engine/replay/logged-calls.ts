import { unescapeTags } from '../../base/control-tags.ts';
import type { TaskEvent } from '../../protocol/event.ts';
import type { AnyTool, ToolOutput } from '../../protocol/tool.ts';
import type { Decided } from '../deps.ts';

/** Runs nothing and decides nothing: it gives what the log says was decided and came out, when the log says so. */
export class LoggedCalls {
  private readonly judged = new Map<string, (decided: Decided) => void>();
  private readonly running = new Map<string, (output: ToolOutput) => void>();

  /** Waits for what the log says of it. */
  decide(callId: string): Promise<Decided> {
    return new Promise((resolve) => this.judged.set(callId, resolve));
  }

  /** The tool as it is, but for what it does. */
  asTool(tool: AnyTool): AnyTool {
    const { ownWords: _, ...shape } = tool;
    return {
      ...shape,
      run: (_input: unknown, { callId }: { readonly callId: string }) =>
        new Promise<ToolOutput>((resolve) => this.running.set(callId, resolve)),
    };
  }

  /** False: no call waits that this could be of. */
  give(event: TaskEvent): boolean {
    switch (event.type) {
      case 'call.started':
        return settle(this.judged, event.callId, ALLOWED);
      case 'call.refused': {
        if (event.decision === null) return false;
        const refusal = unescapeTags(event.text);
        return settle(this.judged, event.callId, {
          allowed: false,
          decision: event.decision,
          refusal,
        });
      }
      case 'call.ended': {
        const { text, nonce, error, facts, attachments } = event;
        return settle(this.running, event.callId, {
          ...(nonce === undefined ? { text: unescapeTags(text), isInstruction: true } : { text }),
          ...(error === null ? {} : { error }),
          facts,
          ...(attachments === undefined ? {} : { attachments }),
        });
      }
      default:
        return false;
    }
  }

  /** The task is told to stop: what was still being decided does not run. */
  release(): void {
    for (const callId of this.judged.keys()) settle(this.judged, callId, ALLOWED);
  }
}

const ALLOWED: Decided = {
  allowed: true,
  decision: { verdict: 'allow', step: 'mode', reason: 'the log says that it ran' },
  refusal: '',
};

function settle<T>(waiting: Map<string, (value: T) => void>, callId: string, value: T): boolean {
  const resolve = waiting.get(callId);
  waiting.delete(callId);
  resolve?.(value);
  return resolve !== undefined;
}
