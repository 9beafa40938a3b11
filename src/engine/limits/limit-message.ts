import type { LimitHit } from '../../protocol/state/activation.ts';

/** Describes which limit was reached, how much of it is used, and, if known, what to do. */
export function limitMessage({
  limit,
  value,
  used,
  needed,
  lastAnswerFits,
  output,
  unpriced,
}: LimitHit): string {
  if (unpriced !== undefined) {
    return `the limit ${limit} = ${value} can't be kept: no price is known for ${unpriced}. Give it in the configuration ([models.catalogue."${unpriced}"], price_input and price_output), or limit tokens instead`;
  }
  if (limit === 'context_window') {
    return `the next request would take about ${used} tokens of the model's context window of ${value} (limit context_window), and nothing more of the context can be cleared or summarised. Use a model with a larger window, or work in smaller steps`;
  }
  const name = `the limit ${limit} = ${value}`;
  const spent = roundAmount(used);
  if (needed === undefined) return `${name} is reached (${spent} used)`;
  const next = lastAnswerFits === true ? 'another turn and a last answer' : 'the next request';
  const shortage = `${name} leaves no room for ${next} (${spent} used, up to ${roundAmount(needed)} needed`;
  if (output === undefined) return `${shortage})`;
  return `${shortage}, most of it for an answer of ${output.limit} tokens, the output limit of ${output.model}). A lower output_limit in [models.catalogue."${output.model}"] of your configuration needs less`;
}

/** Rounds an amount for display: a sum of dollars to four significant digits. */
export function roundAmount(used: number): number {
  return Number.isInteger(used) ? used : Number(used.toPrecision(4));
}

/** Formats the notice that the model can only give its final answer, because a limit is reached. */
export function lastTurnNotice(hit: LimitHit): string {
  return `Stop here: ${limitMessage(hit)}. No more tools: give your final answer now, with what you have.`;
}
