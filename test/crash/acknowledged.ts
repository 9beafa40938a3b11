import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { Message, ToolResultPart } from '../../src/protocol/message.ts';
import type { RequestPrefix } from '../../src/protocol/model.ts';
import { unmarkOutside, markOutside } from '../../src/protocol/outside-text.ts';
import type { WireMessage } from '../../src/testing/index.ts';

/** A change outside, found to have been made, and the call that means to make it. */
export interface Effect {
  readonly tool: string;
  /** Stands in the input of that call and of no other. */
  readonly token: string;
}

/** What a request told the model, in words that all protocols share. */
export interface Told {
  readonly system: readonly string[];
  /** Names, in request order. */
  readonly tools: readonly string[];
  readonly messages: readonly WireMessage[];
}

/** What somebody outside has learned or felt of a run: none of it may be missing from the logs. */
export interface Acknowledged {
  readonly printed: readonly TaskEvent[];
  readonly requests: readonly Told[];
  readonly effects: readonly Effect[];
}

export function tell(prefix: RequestPrefix, messages: readonly Message[]): Told {
  return {
    system: prefix.system,
    tools: prefix.tools.map((tool) => tool.name),
    messages: messages.map(wireMessage),
  };
}

function wireMessage({ role, content }: Message): WireMessage {
  return {
    role,
    text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
    toolCalls: content.flatMap((part) =>
      part.type === 'tool_call' ? [{ id: part.id, name: part.name, input: part.input }] : [],
    ),
    toolResults: content.flatMap((part) =>
      part.type === 'tool_result'
        ? [{ callId: part.callId, text: sentText(part), isError: part.isError }]
        : [],
    ),
  };
}

/** The log tells it, nonce and all, to the byte. */
function sentText({ text, nonce }: ToolResultPart): string {
  return nonce === undefined ? text : markOutside(text, nonce);
}

/** As a script sees it: results as their tools gave them. */
export function withBareResults(told: Told): Told {
  const messages = told.messages.map((message) => ({
    ...message,
    toolResults: message.toolResults.map((result) => ({
      ...result,
      text: unmarkOutside(result.text),
    })),
  }));
  return { ...told, messages };
}
