import {
  PROTOCOL_VERSION,
  type AuthMethod,
  type InitializeResponse,
} from '@agentclientprotocol/sdk/unstable';
import { VERSION } from '../../api/index.ts';
import type { ClientFeatures } from './client-features.ts';

/** The method with which the user says that a key or a model server is configured now. */
export const CONFIGURED_METHOD = 'configured';
/** The method with which the user chooses to work without a model. */
export const OFFLINE_METHOD = 'offline';
/** The message of the error `auth_required`. */
export const NO_MODEL =
  'no model is configured: run `muster login` in a terminal, or set a key such as ANTHROPIC_API_KEY in the environment of the editor';

/** Describes what Muster can do, and how the user can sign in. */
export function describeAgent({ hasTerminalLogin }: ClientFeatures): InitializeResponse {
  const terminal: AuthMethod = {
    type: 'terminal',
    id: 'terminal',
    name: 'Sign in in a terminal',
    description: 'Try the key of a provider and store it, as `muster login` does',
    args: ['--login'],
  };
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'muster', title: 'Muster', version: VERSION },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        additionalDirectories: {},
        list: {},
        delete: {},
        fork: {},
        resume: {},
        close: {},
      },
    },
    authMethods: [
      ...(hasTerminalLogin ? [terminal] : []),
      {
        id: CONFIGURED_METHOD,
        name: 'Use the configured keys',
        description:
          'Keys from the environment of the editor, from `muster login`, or a local model server',
      },
      {
        id: OFFLINE_METHOD,
        name: 'Work without a model',
        description: 'An offline search engine answers questions about the code',
      },
    ],
  };
}
