import type { JsonObject } from '../../base/json.ts';
import type { WireProtocol } from '../wire-request.ts';
import { checkAnthropic } from './anthropic/check.ts';
import { checkChat } from './chat/check.ts';
import { checkGoogle } from './google/check.ts';
import type { StrictOptions } from './options.ts';
import { checkResponses } from './responses/check.ts';
import type { Violation } from './rule.ts';

/** The parts of a request that the rules are about. */
export interface CheckedRequest {
  readonly protocol: WireProtocol;
  readonly body: JsonObject;
  /** Google's requests name it in their path and not in their body. */
  readonly model: string;
}

/**
 * Finds every published rule of the protocol's vendor that a request breaks. The first of them is what the
 * vendor's server would answer; empty: it would take the request.
 */
export function checkRequest(
  { protocol, body, model }: CheckedRequest,
  options: StrictOptions = {},
): readonly Violation[] {
  switch (protocol) {
    case 'anthropic':
      return checkAnthropic(body);
    case 'responses':
      return checkResponses(body, options);
    case 'chat':
      return checkChat(body, options);
    case 'google':
      return checkGoogle(body, model);
  }
}
