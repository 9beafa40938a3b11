import type { JsonObject, JsonValue } from '../base/json.ts';

/** The description of a connected server by itself. All texts are untrusted. */
export interface McpServerInfo {
  readonly name: string;
  readonly version: string;
  readonly protocolVersion: string;
  /** A text for the model about how to use the server. */
  readonly instructions: string;
  readonly hasTools: boolean;
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
  readonly hasCompletion: boolean;
}

/** Hints of a server about a tool. They are shown to people and never decide about rights. */
export interface McpToolAnnotations {
  readonly title?: string;
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
}

/** A tool as a server describes it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations: McpToolAnnotations;
  /** Whether calls can or must run as tasks of the protocol. Absent if the server offers none for the tool. */
  readonly taskSupport?: 'optional' | 'required';
}

/** A list of a server. It is incomplete if the server has more than Muster reads. */
export interface McpList<Item> {
  readonly items: readonly Item[];
  readonly isComplete: boolean;
}

/** One part of the content of a result. Images and sounds are encoded in Base64. All texts are untrusted. */
export type McpContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mediaType: string }
  | ({ readonly type: 'resource' } & McpResourceContent)
  | ({ readonly type: 'resource_link' } & McpResource);

/** The content of a resource: either a text, or data in Base64. */
export interface McpResourceContent {
  readonly uri: string;
  readonly mediaType?: string;
  readonly text?: string;
  readonly data?: string;
}

/** A resource that a server offers. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mediaType?: string;
  /** The size in bytes, as the server says. */
  readonly size?: number;
}

/** A family of resources whose URIs have the form of a template (RFC 6570). */
export interface McpResourceTemplate extends Omit<McpResource, 'uri' | 'size'> {
  readonly uriTemplate: string;
}

/** The result of a call. */
export interface McpCallResult {
  readonly content: readonly McpContent[];
  /** The result as data. It usually says the same as the content. */
  readonly structured?: JsonValue;
  readonly isError: boolean;
}

/** The revision of the protocol that defines how the tasks of a server are used. */
export type McpTaskRevision = '2025-11-25' | '2026-07-28';

/** A call that a server carries out as a task of the protocol. The task can be found again by these fields. */
export interface McpTask {
  /** The server's id of the task. Untrusted. */
  readonly id: string;
  readonly revision: McpTaskRevision;
}

/** The outcome of the request for a call: its result, or the task as which the server carries it out. */
export type McpStartedCall =
  | { readonly kind: 'result'; readonly result: McpCallResult }
  | { readonly kind: 'task'; readonly task: McpTask };

export interface McpPromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly isRequired: boolean;
}

/** A prompt that a server offers. */
export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly McpPromptArgument[];
}

/** The features of a server besides its tools, as far as they are recorded. All texts are untrusted. */
export interface McpServerFeatures {
  readonly hasResources: boolean;
  readonly hasCompletion: boolean;
  /** The prompts, with bounded texts of one line each. */
  readonly prompts: readonly McpPrompt[];
}

/** The resources of a server, and their templates. Incomplete if the server has more than Muster reads. */
export interface McpResourceList {
  readonly resources: readonly McpResource[];
  readonly templates: readonly McpResourceTemplate[];
  readonly isComplete: boolean;
}

/** The messages of a prompt. */
export interface McpPromptMessages {
  readonly description?: string;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: McpContent;
  }[];
}

/** A request for values of an argument that begin with a text. */
export interface McpCompletion {
  /** The prompt, or the template of a resource, that has the argument. */
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string };
  readonly argument: string;
  readonly value: string;
  /** The arguments that are already known. Default: none. */
  readonly known?: Readonly<Record<string, string>>;
}

/** The progress of a call. */
export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A question of a server to the user. All texts are untrusted. */
export type McpElicitation = {
  readonly server: string;
  readonly message: string;
  /**
   * The id of the call that the question belongs to, if the protocol says so; otherwise those of all running calls, in the
   * order of their starts.
   */
  readonly callIds: readonly string[];
} & (
  | { readonly mode: 'form'; readonly schema: JsonObject }
  | { readonly mode: 'url'; readonly url: string }
);

/** The user's answer to a question of a server. */
export type McpElicitationAnswer =
  | {
      readonly action: 'accept';
      readonly content: Readonly<Record<string, string | number | boolean | string[]>>;
    }
  | { readonly action: 'decline' | 'cancel' };

/** Asks the user a question of a server. The signal aborts when the server no longer waits for the answer. */
export type AskForServer = (
  question: McpElicitation,
  signal: AbortSignal,
) => Promise<McpElicitationAnswer>;
