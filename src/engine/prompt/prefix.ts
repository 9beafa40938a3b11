import { MusterError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PromptPartLength, RequestPrefix, ToolSpec } from '../../protocol/model.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { buildPromptParts, buildSystemPrompt, type PromptInput } from './prompt.ts';
import { hashContent } from '../../sys/files/read-file.ts';

/** The beginning of requests that all tasks of one type share, with the hash of its blob. */
export interface SharedPrefix {
  readonly hash: string;
  readonly prefix: RequestPrefix;
}

type PrefixesOfAgents = WeakMap<AgentDefinition, Map<string, SharedPrefix>>;

const NO_TYPES: readonly AgentDefinition[] = [];

/** Caches shared prefixes: siblings use the same strings, and each log holds only the hash of the blob. */
export class PrefixCache {
  /** The prefixes by their text and tool names. */
  private readonly known = new Map<string, SharedPrefix>();
  /** The prefixes by the array of types: while that is the same, the prompt need not be built again. */
  private readonly ofTypes = new WeakMap<readonly AgentDefinition[], PrefixesOfAgents>();
  private readonly byHash = new Map<string, RequestPrefix>();
  private readonly specs = new WeakMap<AnyTool, ToolSpec>();
  private readonly store: TaskStore;

  constructor(store: TaskStore) {
    this.store = store;
  }

  get(input: PromptInput, tools: readonly AnyTool[]): SharedPrefix {
    const { agent, mode, isRoot, firstPrompt, skills, preloaded, environment, context } = input;
    const { cwd, platform, date } = environment;
    const names = tools.map((tool) => tool.name);
    const unmet = input.unmet ?? [];
    const texts = [firstPrompt ?? '', input.memory ?? '', ...skills, ...preloaded, '', ...unmet];
    const place = [cwd, platform, date, context?.id ?? ''];
    const key = [mode, isRoot, ...place, ...names, '', ...texts].join('\0');
    const types = input.types.length === 0 ? NO_TYPES : input.types;
    const ofAgents: PrefixesOfAgents = this.ofTypes.get(types) ?? new WeakMap();
    this.ofTypes.set(types, ofAgents);
    const ofAgent = ofAgents.get(agent) ?? new Map<string, SharedPrefix>();
    ofAgents.set(agent, ofAgent);
    const shared = ofAgent.get(key) ?? this.build(input, tools);
    ofAgent.set(key, shared);
    return shared;
  }

  private build(input: PromptInput, tools: readonly AnyTool[]): SharedPrefix {
    const system = buildSystemPrompt(input);
    const key = [...system, ...tools.map((tool) => tool.name)].join('\0');
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const specs = tools.map((tool) => this.spec(tool));
    const prefix: RequestPrefix = { system, tools: specs, parts: partLengths(input) };
    const shared = { hash: this.store.putBlob(prefixText(prefix), { redact: false }), prefix };
    this.known.set(key, shared);
    this.byHash.set(shared.hash, prefix);
    return shared;
  }

  /** Stores a prefix unchanged. */
  add(given: RequestPrefix): SharedPrefix {
    const hash = this.store.putBlob(prefixText(given), { redact: false });
    const prefix = this.byHash.get(hash) ?? given;
    this.byHash.set(hash, prefix);
    return { hash, prefix };
  }

  /** Loads the prefix with this hash; null when its blob is lost. */
  load(hash: string): RequestPrefix | null {
    const found = this.byHash.get(hash);
    if (found !== undefined) return found;
    const prefix = this.read(hash);
    if (prefix !== null) this.byHash.set(hash, prefix);
    return prefix;
  }

  private read(hash: string): RequestPrefix | null {
    if (hash === '') return null;
    try {
      const prefix: RequestPrefix = JSON.parse(this.store.getBlob(hash));
      return prefix;
    } catch (thrown) {
      if (thrown instanceof MusterError || thrown instanceof SyntaxError) return null;
      throw thrown;
    }
  }

  private spec(tool: AnyTool): ToolSpec {
    const known = this.specs.get(tool);
    if (known !== undefined) return known;
    const spec = toolSpec(tool);
    this.specs.set(tool, spec);
    return spec;
  }
}

/** Computes the hash of the prefix of such tasks, without storing the prefix. */
export function prefixHash(input: PromptInput, tools: readonly AnyTool[]): string {
  const prefix = { system: buildSystemPrompt(input), tools: tools.map(toolSpec) };
  return hashContent(prefixText({ ...prefix, parts: partLengths(input) }));
}

function prefixText({ system, tools, parts }: RequestPrefix): string {
  return JSON.stringify({ system, tools, parts });
}

function partLengths(input: PromptInput): readonly PromptPartLength[] {
  return buildPromptParts(input).map(({ name, text }) => ({ name, length: text.length }));
}

function toolSpec({ name, description, inputSchema }: AnyTool): ToolSpec {
  return { name, description, inputSchema };
}
