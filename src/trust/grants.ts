import { PROMPT_TEXT } from '../agents/beside.ts';
import { loadBuiltinAgents } from '../agents/discover.ts';
import type { AgentFormat, TextBeside } from '../agents/formats/format.ts';
import { agentText } from '../agents/read-text.ts';
import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { plural, truncate } from '../base/text.ts';
import { parseRules } from '../policy/rules/rules.ts';
import { listedTools, type AgentDefinition } from '../protocol/agent.ts';
import type { Layer } from '../config/layer.ts';
import { describeProblem } from '../config/source.ts';

/** What a file would do once it is trusted. */
export interface Grants {
  /** One thing a line, as the file has it: nothing in it is safe to print. */
  readonly lines: readonly string[];
  /** Why the file must not be trusted as it stands: with it nothing would start. */
  readonly problems: readonly string[];
}

/** Longer texts of an agent file are cut, and say so; rules and commands never are. */
const LONGEST = 300;

export async function agentGrants(
  { path, format }: { readonly path: string; readonly format: AgentFormat },
  bytes: Buffer,
): Promise<Grants> {
  const text = agentText(bytes);
  if (!text.ok) return nothing(text.reason);
  // A prompt in another file is approved with that file.
  const beside = (named: string): TextBeside => ({ ok: true, text: named });
  const { items, problems } = await format.read({
    path,
    scope: 'project',
    text: text.text,
    beside,
  });
  const builtins = await loadBuiltinAgents();
  const told = problems.map(({ code, message }) =>
    code === PROMPT_TEXT ? message : `nothing: ${message}`,
  );
  return {
    lines: [...items.flatMap((agent) => agentLines(agent, builtins)), ...told],
    problems: [],
  };
}

/** Of a file that cannot do anything. */
export function nothing(reason: string): Grants {
  return { lines: [`nothing: ${reason}`], problems: [] };
}

function agentLines(
  agent: AgentDefinition,
  builtins: readonly AgentDefinition[],
): readonly string[] {
  const { tools, disallowedTools, limits, extra, permissionMode, mode, model } = agent;
  const names = listedTools(agent).join(', ');
  const toolText = {
    all: 'all of the core set',
    allow: names === '' ? 'none' : names,
    deny: `all of the core set but ${names}`,
  }[tools.mode];
  return [
    `agent ${agent.name}: ${cut(agent.description)}`,
    ...takenNames(agent, builtins),
    `tools: ${toolText}`,
    ...(disallowedTools.length === 0 ? [] : [`denied to it: ${disallowedTools.join(', ')}`]),
    ...(permissionMode === null
      ? []
      : [
          `asks for mode ${permissionMode}${mode === null ? '' : ` (${mode}), and gets no more than yours`}`,
        ]),
    ...(model === undefined ? [] : [`model: ${model}`]),
    ...furtherLines(agent),
    ...Object.entries(limits).map(([name, value]) => `${name}: ${value}`),
    ...Object.entries(extra).map(
      ([name, value]) => `does nothing: ${name}: ${JSON.stringify(value)}`,
    ),
    ...agent.problems.map(({ message }) => `! ${message}`),
    `prompt: ${plural(agent.prompt.split('\n').length, 'line')}; read them in the file`,
  ];
}

/** Fields that most agents do not have. */
function furtherLines(agent: AgentDefinition): readonly string[] {
  const { rules, unlisted, delegatesTo, skills, background, initialPrompt, effort, unusable } =
    agent;
  return [
    ...(rules?.ask ?? []).map((rule) => `it asks about: ${rule}`),
    ...(rules?.deny ?? []).map((rule) => `denied to it: ${rule}`),
    ...(unlisted === true ? ['only you choose it: no model is told of it'] : []),
    ...(delegatesTo === undefined ? [] : [`delegates to: ${delegatesTo.join(', ')}`]),
    ...(skills === undefined ? [] : [`skills it begins with: ${skills.join(', ')}`]),
    ...(background === true ? ['runs in the background'] : []),
    ...(initialPrompt === undefined ? [] : [`first message: ${cut(initialPrompt)}`]),
    ...(effort === undefined ? [] : [`effort: ${effort}`]),
    ...(agent.refusesQuestions === true ? ['what would be asked of you is refused instead'] : []),
    ...(unusable === undefined ? [] : [`cannot be started: ${unusable}`]),
  ];
}

function takenNames(
  { name, aliases }: AgentDefinition,
  builtins: readonly AgentDefinition[],
): readonly string[] {
  const own = new Set([name, ...aliases].map((word) => word.toLowerCase()));
  return builtins.flatMap((builtin) => {
    if (own.has(builtin.name.toLowerCase())) {
      return [`it takes the place of the built-in agent ${builtin.name}`];
    }
    const alias = builtin.aliases.find((each) => own.has(each.toLowerCase()));
    return alias === undefined
      ? []
      : [`it takes the name ${alias}, by which the built-in agent ${builtin.name} is called`];
  });
}

/** A long text, saying how much of it is left out. */
export function cut(text: string): string {
  const short = truncate(text, LONGEST);
  return short.length < text.length ? `${short}… (${text.length - short.length} more)` : short;
}

/** Of a settings file: what it sets, rule by rule, and what of it is ignored. */
export function settingsGrants(layer: Layer, text: string): Grants {
  const lines = layer.assignments.flatMap(({ entry, value }) =>
    entry.spec.combine === 'append' && Array.isArray(value)
      ? value.map((item) => `${entry.name}: ${String(item)}`)
      : [`${entry.key} = ${JSON.stringify(value)}`],
  );
  const ignored = layer.notices.map((notice) => `! ${describeProblem(notice)}`);
  const all = [...lines, ...ignored, ...idleKeys(text)];
  return {
    lines: all.length === 0 ? ['nothing'] : all,
    problems: [...layer.problems.map(describeProblem), ...brokenRules(layer)],
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

/** Other keys of another product's settings: hooks, servers, environment. */
function idleKeys(text: string): readonly string[] {
  const value = parseJsonLine(text);
  if (!isJsonObject(value)) return [];
  const idle = Object.keys(value).filter((key) => key !== 'permissions' && key !== '$schema');
  return idle.length === 0 ? [] : [`does nothing in Muster: ${idle.join(', ')}`];
}
