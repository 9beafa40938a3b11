import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { plural } from '../base/text.ts';
import { parseRules } from '../policy/rules/rules.ts';
import type { Layer } from '../config/layer.ts';
import { MAX_INDEX_LINES } from '../engine/memory/prompt-notes.ts';
import { describeConfigProblem } from '../config/setting.ts';

/** The effects that a file would have if it were trusted. */
export interface FileEffects {
  /** One effect per line, in the words of the file: not safe to print as it stands. */
  readonly lines: readonly string[];
  /** The reasons why the file must not be trusted as it stands: with it, nothing would start. */
  readonly problems: readonly string[];
}

/** Returns what it means to trust an agent's notes. */
export function memoryEffects(bytes: Buffer): FileEffects {
  const count = bytes.toString('utf8').trimEnd().split('\n').length;
  const lines = [
    `notes: ${plural(count, 'line')}, of which the first ${MAX_INDEX_LINES} stand in the prompt of the agent, marked as data`,
    'trusted by their path, also as they change: read them in the file',
  ];
  return { lines, problems: [] };
}

/** Returns what a settings file sets, rule by rule, and what is ignored in it. */
export function settingsEffects(layer: Layer, text: string): FileEffects {
  const lines = layer.assignments.flatMap(({ entry, value }) =>
    entry.spec.combine === 'append' && Array.isArray(value)
      ? value.map((item) => `${entry.name}: ${String(item)}`)
      : [`${entry.key} = ${JSON.stringify(value)}`],
  );
  const ignored = layer.notices.map((notice) => `! ${describeConfigProblem(notice)}`);
  const all = [...lines, ...ignored, ...idleKeys(text)];
  return {
    lines: all.length === 0 ? ['nothing'] : all,
    problems: [...layer.problems.map(describeConfigProblem), ...brokenRules(layer)],
  };
}

function brokenRules({ assignments }: Layer): readonly string[] {
  const texts = (list: string) =>
    assignments
      .filter(({ entry }) => entry.key === `permissions.${list}`)
      .flatMap(({ value, source }) =>
        Array.isArray(value) ? value.map((item) => ({ text: String(item), source })) : [],
      );
  const { problems } = parseRules({
    allow: texts('allow'),
    ask: texts('ask'),
    deny: texts('deny'),
  });
  return problems.map(({ message }) => message);
}

/** Returns a line about the keys of another product's settings that have no effect: hooks, servers, environment. */
function idleKeys(text: string): readonly string[] {
  const value = parseJsonLine(text);
  if (!isJsonObject(value)) return [];
  const idle = Object.keys(value).filter((key) => key !== 'permissions' && key !== '$schema');
  return idle.length === 0 ? [] : [`does nothing in Muster: ${idle.join(', ')}`];
}
