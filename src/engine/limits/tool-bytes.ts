import { byteLength } from '../../base/text.ts';
import type { Budget } from './budget.ts';
import { limitMessage } from './limit-message.ts';

/** The result of a call, cut to what the caps on all results of a task and of its tree leave. */
export function cutToToolBytes(budget: Budget, text: string): string {
  const bytes = byteLength(text);
  const { granted, hit } = budget.useToolBytes(bytes);
  if (hit === null) return text;
  const kept = new TextDecoder().decode(Buffer.from(text, 'utf8').subarray(0, granted), {
    stream: true,
  });
  return `${kept}\n[Cut at ${granted} of ${bytes} bytes: ${limitMessage(hit)}]`.trimStart();
}
