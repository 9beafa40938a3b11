import type { ListedModel } from '../../../src/protocol/listed-model.ts';

/** The document that a provider publishes as its list of models, and the facts in it. */
export interface PublishedList {
  readonly provider: string;
  readonly document: unknown;
  readonly models: readonly (Partial<ListedModel> & Pick<ListedModel, 'id'>)[];
}

/**
 * The lists of the vendors in the forms that their documentation, their own source or recordings show. Long lists are
 * shortened, and so are fields without facts.
 */
export const PUBLISHED_LISTS: readonly PublishedList[] = [
  {
    // https://platform.claude.com/docs/en/api/models/list
    provider: 'Anthropic',
    document: {
      data: [
        {
          id: 'claude-opus-4-6',
          capabilities: {
            batch: { supported: true },
            context_management: { compact_20260112: { supported: true }, supported: true },
            effort: {
              high: { supported: true },
              low: { supported: true },
              max: { supported: true },
              medium: { supported: true },
              supported: true,
              xhigh: { supported: false },
            },
            image_input: { supported: true },
            pdf_input: { supported: true },
            structured_outputs: { supported: true },
            thinking: {
              supported: true,
              types: { adaptive: { supported: true }, enabled: { supported: true } },
            },
          },
          created_at: '2026-02-04T00:00:00Z',
          display_name: 'Claude Opus 4.6',
          max_input_tokens: 1_000_000,
          max_tokens: 128_000,
          type: 'model',
        },
        {
          id: 'claude-3-haiku-20240307',
          capabilities: null,
          created_at: '2024-03-07T00:00:00Z',
          display_name: 'Claude Haiku 3',
          max_input_tokens: null,
          max_tokens: null,
          type: 'model',
        },
      ],
      first_id: 'claude-opus-4-6',
      has_more: false,
      last_id: 'claude-3-haiku-20240307',
    },
    models: [
      {
        id: 'claude-opus-4-6',
        contextWindow: 1_000_000,
        outputLimit: 128_000,
        images: true,
        pdf: true,
        reasoning: true,
        efforts: ['high', 'low', 'max', 'medium'],
      },
      { id: 'claude-3-haiku-20240307' },
    ],
  },
  {
    // https://ai.google.dev/api/models
    provider: 'Google',
    document: {
      models: [
        {
          name: 'models/gemini-3.8-flash',
          version: '3.8',
          displayName: 'Gemini 3.8 Flash',
          inputTokenLimit: 1_048_576,
          outputTokenLimit: 65_536,
          supportedGenerationMethods: ['generateContent', 'countTokens'],
          temperature: 1,
          thinking: true,
        },
        {
          name: 'models/gemini-embedding-001',
          inputTokenLimit: 2048,
          outputTokenLimit: 1,
          supportedGenerationMethods: ['embedContent'],
        },
      ],
    },
    models: [
      {
        id: 'gemini-3.8-flash',
        contextWindow: 1_048_576,
        outputLimit: 65_536,
        chat: true,
        reasoning: true,
      },
      { id: 'gemini-embedding-001', contextWindow: 2048, outputLimit: 1, chat: false },
    ],
  },
  {
    // https://developers.openai.com/api/reference (List models)
    provider: 'OpenAI',
    document: {
      data: [{ id: 'gpt-6-sol', created: 1_780_000_000, object: 'model', owned_by: 'openai' }],
      object: 'list',
    },
    models: [{ id: 'gpt-6-sol' }],
  },
  {
    // https://openrouter.ai/openapi.json and a list of October 2026
    provider: 'OpenRouter',
    document: {
      data: [
        {
          id: 'stepfun/step-5-preview',
          name: 'StepFun: Step 5 Preview',
          context_length: 1_000_000,
          architecture: {
            input_modalities: ['text', 'image', 'video'],
            output_modalities: ['text'],
          },
          pricing: { prompt: '0.000001', completion: '0.0000027', input_cache_read: '0.0000002' },
          top_provider: { context_length: 1_000_000, max_completion_tokens: 64_000 },
          supported_parameters: ['max_tokens', 'reasoning', 'temperature', 'tools'],
          reasoning: { mandatory: true, supported_efforts: ['high', 'medium', 'low'] },
        },
        {
          id: 'meta/muse-spark-1.2',
          context_length: 1_048_576,
          top_provider: { context_length: 1_048_576, max_completion_tokens: null },
          supported_parameters: ['max_tokens', 'response_format', 'temperature'],
          pricing: { prompt: '-1', completion: '-1' },
        },
      ],
    },
    models: [
      {
        id: 'stepfun/step-5-preview',
        contextWindow: 1_000_000,
        outputLimit: 64_000,
        price: { input: 1, output: 2.7, cacheRead: 0.2, cacheWrite: 1 },
        chat: true,
        tools: true,
        images: true,
        pdf: false,
        reasoning: true,
        efforts: ['high', 'medium', 'low'],
      },
      {
        id: 'meta/muse-spark-1.2',
        contextWindow: 1_048_576,
        tools: false,
        reasoning: false,
      },
    ],
  },
  {
    // https://api-docs.deepseek.com/api/list-models
    provider: 'DeepSeek',
    document: {
      object: 'list',
      data: [
        {
          id: 'deepseek-flash',
          object: 'model',
          owned_by: 'deepseek',
          name: 'DeepSeek-V4.1-Flash',
          context_window: 1_048_576,
          max_output_tokens: 393_216,
          input_modalities: ['text', 'image'],
          output_modalities: ['text'],
          effort: { supported_levels: ['low', 'high', 'max'], default_level: 'high' },
        },
      ],
    },
    models: [
      {
        id: 'deepseek-flash',
        contextWindow: 1_048_576,
        outputLimit: 393_216,
        chat: true,
        images: true,
        pdf: false,
        reasoning: true,
        efforts: ['low', 'high', 'max'],
      },
    ],
  },
  {
    // https://docs.mistral.ai/api (BaseModelCard)
    provider: 'Mistral',
    document: {
      object: 'list',
      data: [
        {
          id: 'mistral-large-latest',
          name: 'mistral-large-2512',
          capabilities: {
            completion_chat: true,
            function_calling: true,
            vision: true,
            fine_tuning: true,
          },
          max_context_length: 262_144,
        },
        {
          id: 'mistral-embed',
          capabilities: { completion_chat: false, function_calling: false, vision: false },
        },
      ],
    },
    models: [
      {
        id: 'mistral-large-latest',
        contextWindow: 262_144,
        chat: true,
        tools: true,
        images: true,
      },
      { id: 'mistral-embed', chat: false, tools: false, images: false },
    ],
  },
  {
    // A list of Groq of 2026; `pricing` in dollars per token
    provider: 'Groq',
    document: {
      data: [
        {
          id: 'openai/gpt-oss-20b',
          object: 'model',
          created: 1_754_407_957,
          owned_by: 'OpenAI',
          active: true,
          context_window: 131_072,
          max_completion_tokens: 65_536,
          input_modalities: ['text'],
          output_modalities: ['text'],
          supported_features: ['tools', 'json_mode', 'structured_outputs', 'reasoning'],
          pricing: {
            prompt: '0.000000075',
            completion: '0.0000003',
            image: '0',
            request: '0',
            input_cache_read: '0.0000000375',
          },
        },
        {
          id: 'whisper-large-v3',
          context_window: 448,
          max_completion_tokens: 448,
          input_modalities: ['audio'],
          output_modalities: ['transcription'],
          supported_features: null,
          pricing: null,
        },
      ],
    },
    models: [
      {
        id: 'openai/gpt-oss-20b',
        contextWindow: 131_072,
        outputLimit: 65_536,
        price: { input: 0.075, output: 0.3, cacheRead: 0.0375, cacheWrite: 0.075 },
        chat: true,
        tools: true,
        images: false,
        pdf: false,
        reasoning: true,
      },
      {
        id: 'whisper-large-v3',
        contextWindow: 448,
        outputLimit: 448,
        chat: false,
        images: false,
        pdf: false,
      },
    ],
  },
  {
    // https://inference-docs.cerebras.ai/api-reference/models/public-models
    provider: 'Cerebras',
    document: {
      data: [
        {
          id: 'gpt-oss-120b',
          pricing: { prompt: '0.00000035', completion: '0.00000075' },
          capabilities: { function_calling: true, vision: false, reasoning: true, tools: true },
          limits: { max_context_length: 131_072, max_completion_tokens: 40_960 },
        },
      ],
    },
    models: [
      {
        id: 'gpt-oss-120b',
        contextWindow: 131_072,
        outputLimit: 40_960,
        price: { input: 0.35, output: 0.75, cacheRead: 0.35, cacheWrite: 0.35 },
        tools: true,
        images: false,
        reasoning: true,
      },
    ],
  },
  {
    // https://docs.x.ai/docs/api-reference (/v1/language-models); prices in cents per 100M tokens
    provider: 'xAI',
    document: {
      models: [
        {
          id: 'grok-4.7',
          created: 1_788_000_000,
          object: 'model',
          owned_by: 'xai',
          input_modalities: ['text', 'image'],
          output_modalities: ['text'],
          prompt_text_token_price: 20_000,
          cached_prompt_text_token_price: 5000,
          completion_text_token_price: 60_000,
          aliases: ['grok-4.7-latest'],
          capabilities: {
            reasoning_effort: ['low', 'medium', 'high'],
            default_reasoning_effort: 'medium',
          },
        },
      ],
    },
    models: [
      {
        id: 'grok-4.7',
        price: { input: 2, output: 6, cacheRead: 0.5, cacheWrite: 2 },
        chat: true,
        images: true,
        pdf: false,
        reasoning: true,
        efforts: ['low', 'medium', 'high'],
      },
    ],
  },
  {
    // https://docs.together.ai/reference/models-1: a bare list; prices per million tokens
    provider: 'Together',
    document: [
      {
        id: 'zai-org/GLM-5.3',
        object: 'model',
        type: 'chat',
        context_length: 202_752,
        pricing: { input: 1.4, output: 4.4, hourly: 0, base: 0, finetune: 0 },
      },
      { id: 'BAAI/bge-large-en-v1.5', object: 'model', type: 'embedding' },
    ],
    models: [
      {
        id: 'zai-org/GLM-5.3',
        contextWindow: 202_752,
        price: { input: 1.4, output: 4.4, cacheRead: 1.4, cacheWrite: 1.4 },
        chat: true,
      },
      { id: 'BAAI/bge-large-en-v1.5', chat: false },
    ],
  },
  {
    provider: 'Fireworks',
    document: {
      object: 'list',
      data: [
        {
          id: 'accounts/fireworks/models/kimi-k2p6',
          object: 'model',
          owned_by: 'fireworks',
          created: 1_776_455_694,
          kind: 'HF_BASE_MODEL',
          supports_chat: true,
          supports_image_input: true,
          supports_tools: true,
          context_length: 262_144,
        },
        {
          id: 'accounts/fireworks/models/qwen3-embedding-8b',
          kind: 'EMBEDDING_MODEL',
          supports_chat: true,
        },
      ],
    },
    models: [
      {
        id: 'accounts/fireworks/models/kimi-k2p6',
        contextWindow: 262_144,
        chat: true,
        tools: true,
        images: true,
      },
      { id: 'accounts/fireworks/models/qwen3-embedding-8b', chat: false },
    ],
  },
  {
    provider: 'Fireworks, its own list',
    document: {
      models: [
        {
          name: 'accounts/fireworks/models/kimi-k2p6',
          displayName: 'Kimi K2.6',
          contextLength: 262_144,
          supportsImageInput: true,
          supportsTools: true,
          supportsServerless: true,
          status: { code: 'OK' },
        },
      ],
    },
    models: [
      {
        id: 'accounts/fireworks/models/kimi-k2p6',
        contextWindow: 262_144,
        tools: true,
        images: true,
      },
    ],
  },
  {
    // https://platform.moonshot.ai/docs (List Models)
    provider: 'Moonshot',
    document: {
      object: 'list',
      data: [
        {
          id: 'kimi-k3',
          object: 'model',
          owned_by: 'moonshot',
          context_length: 1_048_576,
          supports_image_in: true,
          supports_video_in: false,
          supports_reasoning: true,
        },
      ],
    },
    models: [{ id: 'kimi-k3', contextWindow: 1_048_576, images: true, reasoning: true }],
  },
  {
    provider: 'Z.ai, MiniMax and Qwen',
    document: {
      object: 'list',
      data: [
        { id: 'glm-4.5', object: 'model', created: 1_753_632_000, owned_by: 'z-ai' },
        { id: 'MiniMax-M3', object: 'model', created: 1_780_272_000, owned_by: 'minimax' },
        { id: 'qwen3.8-max', object: 'model' },
      ],
      first_id: 'model-id-0',
      has_more: false,
    },
    models: [{ id: 'glm-4.5' }, { id: 'MiniMax-M3' }, { id: 'qwen3.8-max' }],
  },
  {
    // https://docs.github.com/rest/models/catalog: a bare list
    provider: 'GitHub Models',
    document: [
      {
        id: 'openai/gpt-4.1',
        name: 'OpenAI GPT-4.1',
        publisher: 'OpenAI',
        capabilities: ['streaming', 'tool-calling'],
        limits: { max_input_tokens: 1_048_576, max_output_tokens: 32_768 },
        supported_input_modalities: ['text', 'image', 'audio'],
        supported_output_modalities: ['text'],
        tags: ['multipurpose', 'multilingual', 'multimodal'],
      },
    ],
    models: [
      {
        id: 'openai/gpt-4.1',
        contextWindow: 1_048_576,
        outputLimit: 32_768,
        chat: true,
        tools: true,
        images: true,
        pdf: false,
      },
    ],
  },
  {
    // https://lmstudio.ai/docs/developer/rest/list
    provider: 'LM Studio 0.4',
    document: {
      models: [
        {
          type: 'llm',
          publisher: 'google',
          key: 'google/gemma-4-26b-a4b',
          display_name: 'Gemma 4 26B A4B',
          loaded_instances: [
            { id: 'google/gemma-4-26b-a4b', config: { context_length: 4096, parallel: 4 } },
          ],
          max_context_length: 262_144,
          capabilities: {
            vision: true,
            trained_for_tool_use: true,
            reasoning: { allowed_options: ['off', 'on'], default: 'on' },
          },
          description: null,
        },
        {
          type: 'embedding',
          key: 'text-embedding-nomic-embed-text-v1.5',
          loaded_instances: [],
          max_context_length: 2048,
        },
      ],
    },
    models: [
      {
        id: 'google/gemma-4-26b-a4b',
        contextWindow: 4096,
        chat: true,
        tools: true,
        images: true,
        reasoning: true,
        efforts: ['off', 'on'],
        loaded: true,
      },
      {
        id: 'text-embedding-nomic-embed-text-v1.5',
        contextWindow: 2048,
        chat: false,
        loaded: false,
      },
    ],
  },
  {
    // https://lmstudio.ai/docs/api/rest-api
    provider: 'LM Studio 0.3',
    document: {
      object: 'list',
      data: [
        {
          id: 'qwen2-vl-7b-instruct',
          object: 'model',
          type: 'vlm',
          publisher: 'mlx-community',
          state: 'not-loaded',
          max_context_length: 32_768,
        },
        {
          id: 'qwen3-8b',
          object: 'model',
          type: 'llm',
          state: 'loaded',
          max_context_length: 40_960,
          loaded_context_length: 8192,
          capabilities: ['tool_use'],
        },
      ],
    },
    models: [
      {
        id: 'qwen2-vl-7b-instruct',
        contextWindow: 32_768,
        chat: true,
        images: true,
        loaded: false,
      },
      { id: 'qwen3-8b', contextWindow: 8192, chat: true, tools: true, loaded: true },
    ],
  },
  {
    // https://github.com/ollama/ollama/blob/main/docs/api.md
    provider: 'Ollama, /api/tags',
    document: {
      models: [
        {
          name: 'deepseek-r1:latest',
          model: 'deepseek-r1:latest',
          modified_at: '2025-05-10T08:06:48.639712648-07:00',
          size: 4_683_075_271,
          details: { format: 'gguf', family: 'qwen2', families: ['qwen2'], parameter_size: '7.6B' },
          capabilities: ['completion', 'tools', 'thinking'],
        },
        { name: 'nomic-embed-text:latest', capabilities: ['embedding'] },
      ],
    },
    models: [
      { id: 'deepseek-r1:latest', tools: true, reasoning: true },
      { id: 'nomic-embed-text:latest', chat: false, tools: false },
    ],
  },
  { provider: 'Ollama without a model', document: { object: 'list', data: null }, models: [] },
  {
    // A recording of build 11429; its `models` imitate Ollama
    provider: 'llama.cpp',
    document: {
      models: [{ name: 'qwen2.5-14b', capabilities: ['completion'], parameters: '' }],
      object: 'list',
      data: [
        {
          id: 'qwen2.5-14b',
          aliases: ['qwen2.5-14b'],
          tags: [],
          object: 'model',
          architecture: { input_modalities: ['text'], output_modalities: ['text'] },
          created: 1_791_431_385,
          owned_by: 'llamacpp',
          meta: { n_vocab: 152_064, n_ctx: 6144, n_ctx_train: 32_768, n_embd: 5120 },
        },
      ],
    },
    models: [{ id: 'qwen2.5-14b', contextWindow: 6144, chat: true, images: false, pdf: false }],
  },
  {
    // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (router mode)
    provider: 'llama.cpp as a router',
    document: {
      data: [
        {
          id: 'ggml-org/gemma-3-4b-it-GGUF:Q4_K_M',
          status: { value: 'loaded', args: ['llama-server', '-ctx', '4096'] },
          architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        },
        { id: 'ggml-org/other', status: { value: 'unloaded' }, meta: null },
      ],
    },
    models: [
      {
        id: 'ggml-org/gemma-3-4b-it-GGUF:Q4_K_M',
        chat: true,
        images: true,
        pdf: false,
        loaded: true,
      },
      { id: 'ggml-org/other', loaded: false },
    ],
  },
  {
    // A recording of August 2026
    provider: 'vLLM',
    document: {
      object: 'list',
      data: [
        {
          id: 'qwen3.8-27b-bf16-896k',
          object: 'model',
          owned_by: 'vllm',
          root: 'Qwen/Qwen3.8-27B',
          parent: null,
          max_model_len: 917_504,
          permission: [{ id: 'modelperm-862405855bc87f27', allow_sampling: true }],
        },
      ],
    },
    models: [{ id: 'qwen3.8-27b-bf16-896k', contextWindow: 917_504 }],
  },
  {
    // https://docs.litellm.ai/docs/proxy/model_management
    provider: 'LiteLLM, /v1/model/info',
    document: {
      data: [
        {
          model_name: 'gpt-4',
          litellm_params: { model: 'gpt-4' },
          model_info: {
            id: 'e889baacd17f591cce4c63639275ba5e8dc60765d6c553e6ee5a504b19e50ddc',
            max_tokens: 4096,
            max_input_tokens: 8192,
            max_output_tokens: 4096,
            input_cost_per_token: 3e-5,
            output_cost_per_token: 6e-5,
            litellm_provider: 'openai',
            mode: 'chat',
            supports_function_calling: true,
            supports_vision: false,
          },
        },
        {
          model_name: 'local-ollama',
          model_info: { mode: null, input_cost_per_token: 0, output_cost_per_token: 0 },
        },
        { model_name: 'text-embedding-3-large', model_info: { mode: 'embedding' } },
      ],
    },
    models: [
      {
        id: 'gpt-4',
        contextWindow: 8192,
        outputLimit: 4096,
        price: { input: 30, output: 60, cacheRead: 30, cacheWrite: 30 },
        tools: true,
        images: false,
      },
      { id: 'local-ollama' },
      { id: 'text-embedding-3-large', chat: false },
    ],
  },
  {
    // https://vercel.com/docs/ai-gateway: prices as texts, in dollars per token
    provider: 'Vercel AI Gateway',
    document: {
      object: 'list',
      data: [
        {
          id: 'anthropic/claude-sonnet-4',
          object: 'model',
          type: 'language',
          context_window: 200_000,
          max_tokens: 64_000,
          tags: ['file-input', 'reasoning', 'tool-use', 'vision'],
          pricing: { input: '0.000003', output: '0.000015', input_cache_read: '0.0000003' },
        },
      ],
    },
    models: [
      {
        id: 'anthropic/claude-sonnet-4',
        contextWindow: 200_000,
        outputLimit: 64_000,
        price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 },
        chat: true,
        tools: true,
        images: true,
        pdf: true,
        reasoning: true,
      },
    ],
  },
  {
    provider: 'a server that lists only names',
    document: { models: ['mine', 'yours'] },
    models: [{ id: 'mine' }, { id: 'yours' }],
  },
];
