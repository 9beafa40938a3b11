import type { ModelRequest } from '../../../protocol/model.ts';
import type { HttpStatusError } from '../errors/answer-errors.ts';
import { extractErrorText } from '../errors/error-body.ts';
import { findAllowedOutput } from '../errors/output-limit-errors.ts';

/** The maximum number of times that the limit of a model is lowered, because a server may name another limit every time. */
const MAX_CHANGES = 4;

/** Remembers, for each model that has refused an output limit, the highest limit that the model accepts. */
export class OutputCaps {
  /** The highest accepted limit by model id. */
  private readonly caps = new Map<string, number>();
  /** The number of times that the limit was lowered, by model id. */
  private readonly changeCounts = new Map<string, number>();

  /** Returns the request with a limit that its model accepts. `defaultLimit`: the limit for a request that sets none. */
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

  /** Learns from a refused request. Returns true if the refusal names a limit with which the request can be sent again. */
  learn(model: string, { status, responseBody, requestBody }: HttpStatusError): boolean {
    if (status !== 400 && status !== 422) return false;
    const allowed = findAllowedOutput(extractErrorText(responseBody));
    const refused = findSentLimit(requestBody);
    const changeCount = this.changeCounts.get(model) ?? 0;
    if (allowed === null || refused === null || refused <= allowed) return false;
    if (changeCount >= MAX_CHANGES) return false;
    this.changeCounts.set(model, changeCount + 1);
    this.caps.set(model, allowed);
    return true;
  }
}

/** Matches the output limit in a body of any protocol. Inside the conversation, the quotes of such a text are escaped. */
const SENT_LIMIT = /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)/;

function findSentLimit(requestBody: string): number | null {
  const found = SENT_LIMIT.exec(requestBody)?.[1];
  return found === undefined ? null : Number(found);
}
