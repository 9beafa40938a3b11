import type { ModelRequest } from '../../../protocol/model.ts';
import type { HttpStatusError } from '../errors/answer-errors.ts';
import { errorText } from '../errors/error-body.ts';
import { findAllowedOutput } from '../errors/output-limit-errors.ts';

/** The maximum number of times that a limit is lowered, since a server may name another limit every time. */
const MAX_LESSONS = 4;

/** Remembers, for each model that has refused a limit on its answer, the highest limit that it accepts. */
export class OutputCaps {
  private readonly caps = new Map<string, number>();
  private readonly lessons = new Map<string, number>();

  /** Returns the request with a limit that its model accepts. `usual`: the limit if the request names none. */
  limit(request: ModelRequest, defaultLimit: number | undefined): ModelRequest {
    const cap = this.caps.get(request.model.id);
    if (cap === undefined) return request;
    return {
      ...request,
      maxOutputTokens: Math.min(request.maxOutputTokens ?? defaultLimit ?? cap, cap),
    };
  }

  /** Returns the highest limit that a model accepts; null: it has refused none. */
  capOf(model: string): number | null {
    return this.caps.get(model) ?? null;
  }

  /** Learns from a refusal. Returns true if it names a limit with which the request can be sent again. */
  learn(model: string, { status, body, requestBody: sent }: HttpStatusError): boolean {
    if (status !== 400 && status !== 422) return false;
    const allowed = findAllowedOutput(errorText(body));
    const refused = findSentLimit(sent);
    const lessons = this.lessons.get(model) ?? 0;
    if (allowed === null || refused === null || refused <= allowed) return false;
    if (lessons >= MAX_LESSONS) return false;
    this.lessons.set(model, lessons + 1);
    this.caps.set(model, allowed);
    return true;
  }
}

/** The limit in the body of any protocol. It comes before the conversation, in which the same text is escaped. */
const SENT_LIMIT = /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)/;

function findSentLimit(sent: string): number | null {
  const found = SENT_LIMIT.exec(sent)?.[1];
  return found === undefined ? null : Number(found);
}
