import type { ModelRequest } from '../../../protocol/model.ts';
import type { HttpRefusal } from '../errors/answer-errors.ts';
import { errorText } from '../errors/error-body.ts';
import { findAllowedOutput } from '../errors/output-limit-errors.ts';

/** How often a lower limit is believed, so that a server that always names another one is not asked for ever. */
const MOST_LESSONS = 4;

/** Remembers the limits on answers that one server takes, for each model that has refused a higher one. */
export class OutputCaps {
  private readonly caps = new Map<string, number>();
  private readonly lessons = new Map<string, number>();

  /** Returns the request with a limit that its model takes. */
  bounded(request: ModelRequest, usual: number | undefined): ModelRequest {
    const cap = this.caps.get(request.model.id);
    if (cap === undefined) return request;
    return { ...request, maxOutputTokens: Math.min(request.maxOutputTokens ?? usual ?? cap, cap) };
  }

  /** Whether the refusal names a limit that the same request can be sent with once more. */
  learn(model: string, { status, body, sent }: HttpRefusal): boolean {
    if (status !== 400 && status !== 422) return false;
    const allowed = findAllowedOutput(errorText(body));
    const refused = sentLimit(sent);
    const lessons = this.lessons.get(model) ?? 0;
    if (allowed === null || refused === null || refused <= allowed) return false;
    if (lessons >= MOST_LESSONS) return false;
    this.lessons.set(model, lessons + 1);
    this.caps.set(model, allowed);
    return true;
  }
}

/** The fields of all four protocols; they stand before any text of the conversation, or are escaped in it. */
const SENT_LIMIT = /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)/;

function sentLimit(sent: string): number | null {
  const found = SENT_LIMIT.exec(sent)?.[1];
  return found === undefined ? null : Number(found);
}
