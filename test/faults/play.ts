import type { ModelRequest } from '../../src/protocol/model.ts';
import { firstUserText, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import type { FaultCase, Outcome } from './cases.ts';
import type { World } from './world.ts';

/** What the task is asked that meets the fault. */
export const VICTIM = 'be the VICTIM';
export const ROOT = 'be the ROOT of all';

/** What a task is asked whose one call writes that line. */
export function siblingPrompt(line: string): string {
  return `be the SIBLING ${line}.`;
}

/** What the tasks of one run say, and where the requests of the one that meets the fault go. */
export class Play {
  /** Requests that the victim has sent, those that never arrived too. */
  sent = 0;
  private whole = 0;
  private readonly fault: FaultCase;
  private readonly outcome: Outcome;
  private readonly delegated: readonly string[];

  constructor(
    fault: FaultCase,
    { outcome, delegated }: { readonly outcome: Outcome; readonly delegated: readonly string[] },
  ) {
    this.fault = fault;
    this.outcome = outcome;
    this.delegated = delegated;
  }

  /** Counts the victim's requests, and sends the one astray that is to be. */
  route(url: URL, body: string): URL {
    if (!body.includes(VICTIM) || body.includes(ROOT)) return url;
    this.sent += 1;
    return this.sent === 2 ? (this.fault.detour?.(url) ?? url) : url;
  }

  /** Whether this is the request that meets the fault. */
  isMeeting({ messages }: ModelRequest): boolean {
    const [first] = messages;
    const isOwn = first?.role === 'user' && first.content.some(({ text }) => text.includes(VICTIM));
    return isOwn && messages.length > 1 && this.sent === 1;
  }

  answer(request: RecordedRequest, world: World): Answer {
    const prompt = firstUserText(request);
    if (prompt.includes(VICTIM)) return this.victim(world);
    if (request.messages.length > 1) return { text: 'all well' };
    if (prompt.includes(ROOT)) return { toolCalls: this.delegated.map(delegation) };
    const line = /SIBLING (\w+)\./.exec(prompt)?.[1] ?? 'nobody';
    return { toolCalls: [counts(world, line)] };
  }

  private victim(world: World): Answer {
    if (this.sent === 1) return { toolCalls: [counts(world, 'a')] };
    const isMended = this.outcome.told === 'nobody, mended';
    if (this.sent === 2 || this.fault.forEver === true) {
      if (this.fault.isSilent === true) world.hurry();
      const second = isMended ? [counts(world, 'c')] : [];
      const toolCalls = [counts(world, 'b'), ...second];
      return { text: 'here', toolCalls, chunks: 3, ...this.fault.answer };
    }
    this.whole += 1;
    if (this.whole === 2 || isMended) return { text: 'done' };
    return { text: 'here', toolCalls: [counts(world, 'b')] };
  }
}

function counts(world: World, line: string) {
  return { name: 'Bash', input: { command: world.count(line), description: 'count' } };
}

function delegation(prompt: string) {
  return { name: 'Task', input: { description: 'a part', prompt } };
}
