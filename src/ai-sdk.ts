/** `muster-agent/ai-sdk`: Muster's agents in the AI SDK, and agents of the AI SDK in Muster. */
export {
  aiSdkAgent,
  aiSdkTaskTool,
  type AiSdkAgent,
  type AiSdkTaskTool,
  type AiSdkUsage,
} from './library/ai-sdk.ts';
