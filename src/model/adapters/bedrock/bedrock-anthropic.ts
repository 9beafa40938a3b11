import { anthropicProtocol } from '../anthropic/anthropic-protocol.ts';
import { toCloudBody } from '../anthropic/cloud-body.ts';
import type { ProtocolAdapter } from '../protocol-adapter.ts';
import { decodeEventFrames } from './event-frames.ts';

/** The version of the protocol on Bedrock: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html */
const VERSION = 'bedrock-2023-05-31';

/** Anthropic's Messages protocol on Bedrock: the model is in the address, and events come in the frames of AWS. */
export const bedrockAnthropicProtocol: ProtocolAdapter = {
  ...anthropicProtocol,
  createLanguageModel: (modelId, endpoint, fetch) => {
    const path = `/model/${encodeURIComponent(modelId)}/invoke-with-response-stream`;
    return anthropicProtocol.createLanguageModel(modelId, endpoint, (_url, init) =>
      fetch(`${endpoint.baseUrl}${path}`, init),
    );
  },
  finishBody: (body) => toCloudBody(body, VERSION, { keepsStream: false }),
  decodeBody: decodeEventFrames,
};
