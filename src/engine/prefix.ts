import type { AgentDefinition } from '../protocol/agent.ts';
import type { RequestPrefix, ToolSpec } from '../protocol/model.ts';
import type { AnyTool } from '../protocol/tool.ts';
import type { TaskStore } from '../store/task-store.ts';
import { systemPrompt, type PromptInput } from './prompt.ts';

/** What all tasks of one type share of their requests, and where it is kept. */
export interface SharedPrefix {
  readonly hash: string;
  readonly prefix: RequestPrefix;
}

/**
 * Builds each shared prefix once: siblings then share the very strings, and the log of each holds
 * only the hash of the blob.
 */
export class PrefixCache {
  private readonly known = new WeakMap<AgentDefinition, Map<string, SharedPrefix>>();
  private readonly specs = new WeakMap<AnyTool, ToolSpec>();
  private readonly store: TaskStore;

  constructor(store: TaskStore) {
    this.store = store;
  }

  get(input: PromptInput, tools: readonly AnyTool[]): SharedPrefix {
    const { agent, mode, isRoot, types, environment } = input;
    const key = JSON.stringify([
      mode,
      isRoot,
      types.map((type) => type.name),
      environment,
      tools.map((tool) => tool.name),
    ]);
    const ofAgent = this.known.get(agent) ?? new Map<string, SharedPrefix>();
    this.known.set(agent, ofAgent);
    const found = ofAgent.get(key);
    if (found !== undefined) return found;
    const prefix: RequestPrefix = {
      system: systemPrompt(input),
      tools: tools.map((tool) => this.spec(tool)),
    };
    const shared = { hash: this.store.putBlob(JSON.stringify(prefix), { redact: false }), prefix };
    ofAgent.set(key, shared);
    return shared;
  }

  private spec(tool: AnyTool): ToolSpec {
    const known = this.specs.get(tool);
    if (known !== undefined) return known;
    const { name, description, inputSchema } = tool;
    const spec = { name, description, inputSchema };
    this.specs.set(tool, spec);
    return spec;
  }
}
