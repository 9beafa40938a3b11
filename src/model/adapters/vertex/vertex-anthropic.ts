import { anthropicProtocol } from '../anthropic/anthropic-protocol.ts';
import { toCloudBody } from '../anthropic/cloud-body.ts';
import type { ProtocolAdapter } from '../protocol-adapter.ts';

/** The version of the protocol on Vertex AI: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude */
const VERSION = 'vertex-2023-10-16';

/** Anthropic's Messages protocol on Vertex AI, where the model is in the address. */
export const vertexAnthropicProtocol: ProtocolAdapter = {
  ...anthropicProtocol,
  createLanguageModel: (modelId, endpoint, fetch) => {
    const path = `/models/${encodeURIComponent(modelId)}:streamRawPredict`;
    return anthropicProtocol.createLanguageModel(modelId, endpoint, (_url, init) =>
      fetch(`${endpoint.baseUrl}${path}`, init),
    );
  },
  finishBody: (body) => toCloudBody(body, VERSION, { keepsStream: true }),
};
