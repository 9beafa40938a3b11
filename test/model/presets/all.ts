import type { PresetName } from '../../../src/model/settings/presets.ts';
import { wire as anthropic } from './anthropic.ts';
import { wire as cerebras } from './cerebras.ts';
import { wire as deepseek } from './deepseek.ts';
import { wire as fireworks } from './fireworks.ts';
import { wire as google } from './google.ts';
import { wire as groq } from './groq.ts';
import { wire as litellm } from './litellm.ts';
import { wire as llamacpp } from './llamacpp.ts';
import { wire as lmstudio } from './lmstudio.ts';
import { wire as minimax } from './minimax.ts';
import { wire as mistral } from './mistral.ts';
import { wire as moonshot } from './moonshot.ts';
import { wire as ollama } from './ollama.ts';
import { wire as openai } from './openai.ts';
import { wire as openrouter } from './openrouter.ts';
import { wire as perplexity } from './perplexity.ts';
import { wire as qwen } from './qwen.ts';
import { wire as together } from './together.ts';
import { wire as vllm } from './vllm.ts';
import { wire as xai } from './xai.ts';
import { wire as zai } from './zai.ts';
import type { ProviderWire } from './wire.ts';

/** The wires of all known providers. A provider without one does not compile. */
export const WIRES: Readonly<Record<PresetName, ProviderWire>> = {
  anthropic,
  openai,
  google,
  openrouter,
  deepseek,
  mistral,
  groq,
  cerebras,
  xai,
  together,
  fireworks,
  moonshot,
  zai,
  qwen,
  minimax,
  perplexity,
  lmstudio,
  ollama,
  llamacpp,
  vllm,
  litellm,
};
