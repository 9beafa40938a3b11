import type { JsonValue } from '../../base/json.ts';
import { answerJson } from '../task/answer-json.ts';

/** An answer that is JSON as the same report in Markdown, its keys as headings; any other as it is. */
export function inMarkdown(answer: string): string {
  if (!/^(?:```\w*\s*)?[[{]/.test(answer.trimStart())) return answer;
  const json = answerJson(answer);
  return json.ok ? linesOf(json.value, 0).join('\n') : answer;
}

function linesOf(value: JsonValue, depth: number): readonly string[] {
  if (depth > 4) return [];
  if (Array.isArray(value)) return value.map((item) => `- ${inOneLine(item)}`);
  if (typeof value !== 'object' || value === null) return [inOneLine(value)];
  const lines: string[] = [];
  for (const [key, inner] of Object.entries(value)) {
    const name = key.replace(/(?<=[a-z])(?=[A-Z])|_/g, ' ');
    if (typeof inner !== 'object' || inner === null) lines.push(`${name}: ${String(inner)}`, '');
    else lines.push(`## ${name}`, '', ...linesOf(inner, depth + 1), '');
  }
  return lines;
}

function inOneLine(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value)
    .map((inner) => (typeof inner === 'string' ? inner : JSON.stringify(inner)))
    .join(' – ');
}
