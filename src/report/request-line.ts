import type { TaskEvent } from '../protocol/events/event.ts';
import { paidTokens } from '../protocol/model.ts';
import { plural } from '../base/text.ts';
import { formatCount, formatUsd } from './cost-text.ts';

/** Describes a request that a call sent apart from the conversation, in one line for a person. */
export function describeRequest({
  purpose,
  failure,
  model = '',
  usage,
  estimated,
  costUsd = null,
  searches = 0,
}: Extract<TaskEvent, { type: 'request.ended' }>): string {
  if (failure !== null) return `${purpose}: ${failure.message}`;
  const tokens = paidTokens(estimated?.usage ?? usage);
  const cost = costUsd === null ? '' : `, ${formatUsd(costUsd)}`;
  const counted = searches === 0 ? '' : `, ${plural(searches, 'search', 'searches')}`;
  return `${purpose}: ${model}, ${formatCount(tokens)} tokens${counted}${cost}`;
}
