import { MusterError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import { RESOURCE_TOOL } from '../../protocol/tool-names.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { describeTools } from '../../protocol/model-families/describe-tools.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { buildSystemPrompt, type PromptInput } from './prompt.ts';
import { hashContent } from '../../sys/files/read-file.ts';

/** The prompt prefix that all tasks of one agent type share, with the hash of its blob. */
export interface SharedPrefix {
  readonly hash: string;
  readonly prefix: RequestPrefix;
}

type PrefixesByAgent = WeakMap<AgentDefinition, Map<string, SharedPrefix>>;

const NO_TYPES: readonly AgentDefinition[] = [];

/** Returns the key of a tool. The schema of McpResource differs between tasks; other tools differ by their names. */
function toKey({ name, inputSchema }: AnyTool): string {
  return name === RESOURCE_TOOL ? name + JSON.stringify(inputSchema) : name;
}

/** Caches prompt prefixes, so that siblings share the same strings. Each log contains only the hash of the blob. */
export class PrefixCache {
  /** The prefixes by their text and the names of their tools. */
  private readonly byContent = new Map<string, SharedPrefix>();
  /**
   * The prefixes by the array of agent types: as long as the array is the same, the prompt does not have to be built
   * again.
   */
  private readonly byTypes = new WeakMap<readonly AgentDefinition[], PrefixesByAgent>();
  private readonly byHash = new Map<string, RequestPrefix>();
  private readonly store: TaskStore;

  constructor(store: TaskStore) {
    this.store = store;
  }

  /** Returns the prefix for a prompt and tools, and stores its blob if it is new. */
  get(input: PromptInput, tools: readonly AnyTool[]): SharedPrefix {
    const { agent, family, mode, isRoot, firstPrompt, skills, preloaded, environment, context } =
      input;
    const { servers = [] } = input;
    const { cwd, platform, date } = environment;
    const names = tools.map(toKey);
    const unmet = input.unmet ?? [];
    const texts = [
      firstPrompt ?? '',
      input.memory ?? '',
      ...skills,
      ...preloaded,
      '',
      ...unmet,
      ...servers,
    ];
    const environmentTexts = [cwd ?? '', platform, date, context?.id ?? ''];
    const key = [
      mode,
      family?.name ?? '',
      isRoot,
      ...environmentTexts,
      ...names,
      '',
      ...texts,
    ].join('\0');
    const types = input.types.length === 0 ? NO_TYPES : input.types;
    const byAgent: PrefixesByAgent = this.byTypes.get(types) ?? new WeakMap();
    this.byTypes.set(types, byAgent);
    const byKey = byAgent.get(agent) ?? new Map<string, SharedPrefix>();
    byAgent.set(agent, byKey);
    const shared = byKey.get(key) ?? this.build(input, tools);
    byKey.set(key, shared);
    return shared;
  }

  private build(input: PromptInput, tools: readonly AnyTool[]): SharedPrefix {
    const { system, parts } = buildSystemPrompt(input);
    const specs = describeTools(tools, input.family);
    const key = [...system, input.family?.name ?? '', ...tools.map(toKey)].join('\0');
    const found = this.byContent.get(key);
    if (found !== undefined) return found;
    const prefix: RequestPrefix = { system, tools: specs, parts };
    const shared = { hash: this.store.putBlob(formatPrefix(prefix), { redact: false }), prefix };
    this.byContent.set(key, shared);
    this.byHash.set(shared.hash, prefix);
    return shared;
  }

  /** Stores the blob of a prefix without changing the prefix. */
  add(newPrefix: RequestPrefix): SharedPrefix {
    const hash = this.store.putBlob(formatPrefix(newPrefix), { redact: false });
    const prefix = this.byHash.get(hash) ?? newPrefix;
    this.byHash.set(hash, prefix);
    return { hash, prefix };
  }

  /** Loads the prefix with this hash; null when its blob does not exist any more. */
  load(hash: string): RequestPrefix | null {
    const found = this.byHash.get(hash);
    if (found !== undefined) return found;
    const prefix = this.readBlob(hash);
    if (prefix !== null) this.byHash.set(hash, prefix);
    return prefix;
  }

  private readBlob(hash: string): RequestPrefix | null {
    if (hash === '') return null;
    try {
      const prefix: RequestPrefix = JSON.parse(this.store.getBlob(hash));
      return prefix;
    } catch (thrown) {
      if (thrown instanceof MusterError || thrown instanceof SyntaxError) return null;
      throw thrown;
    }
  }
}

/** Computes the hash of the prefix for a prompt and tools, without storing the prefix. */
export function computePrefixHash(input: PromptInput, tools: readonly AnyTool[]): string {
  const specs = describeTools(tools, input.family);
  return hashContent(formatPrefix({ ...buildSystemPrompt(input), tools: specs }));
}

function formatPrefix({ system, tools, parts }: RequestPrefix): string {
  return JSON.stringify({ system, tools, parts });
}
