import { byteLength } from '../../base/text.ts';
import type { Budget } from './budget.ts';
import { limitMessage } from './limit-message.ts';

/** Cuts the result of a call to the remaining bytes of the caps on all results of its task and its tree. */
export function cutToToolBytes(budget: Budget, text: string): string {
  const bytes = byteLength(text);
  const { granted, hit } = budget.useToolBytes(bytes);
  if (hit === null) return text;
  const kept = new TextDecoder().decode(Buffer.from(text, 'utf8').subarray(0, granted), {
    stream: true,
  });
  return `${kept}\n[Cut at ${granted} of ${bytes} bytes: ${limitMessage(hit)}]`.trimStart();
}
