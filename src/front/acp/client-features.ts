import type { ClientCapabilities } from '@agentclientprotocol/sdk/unstable';

/** The features that a client has declared. */
export interface ClientFeatures {
  /** True if it shows subagents as sessions of their own. */
  readonly hasChildSessions: boolean;
  /** True if it shows forms to its user. */
  readonly hasForms: boolean;
  /** True if it shows notices apart from the conversation. */
  readonly hasNotices: boolean;
  /** True if it returns the texts of files that it has open, which need not be saved. */
  readonly readsFiles: boolean;
  /** True if it changes files that it has open, and saves them. */
  readonly writesFiles: boolean;
  /** True if it can run Muster in a terminal, so that the user can sign in there. */
  readonly hasTerminalLogin: boolean;
}

/** Reads what a client has declared. What it has not declared, it does not get. */
export function readClientFeatures(capabilities: ClientCapabilities | undefined): ClientFeatures {
  const { subagents, elicitation, session, auth, fs } = capabilities ?? {};
  return {
    hasChildSessions: isDeclared(subagents),
    hasForms: isDeclared(elicitation?.form),
    hasNotices: isDeclared(session?.notices),
    readsFiles: fs?.readTextFile === true,
    writesFiles: fs?.writeTextFile === true,
    hasTerminalLogin: auth?.terminal === true,
  };
}

function isDeclared(capability: object | null | undefined): boolean {
  return capability !== undefined && capability !== null;
}
