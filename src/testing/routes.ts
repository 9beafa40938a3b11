import type { WireProtocol } from './wire-request.ts';

/** Finds the protocol of a POST request by its path, which may lack the version; null if it is none of them. */
export function protocolOf(path: string): WireProtocol | null {
  const [pathname = ''] = path.split('?', 1);
  if (/^(\/v1)?\/messages$/.test(pathname)) return 'anthropic';
  if (/^(\/v1)?\/responses$/.test(pathname)) return 'responses';
  if (/^(\/v1)?\/chat\/completions$/.test(pathname)) return 'chat';
  if (/^(\/v1(beta)?)?\/models\/[^/]+:(streamG|g)enerateContent$/.test(pathname)) return 'google';
  return null;
}

/** Returns the body for a GET request; null if there is no such path. All dates in it are fixed. */
export function listing(path: string, models: readonly string[]): object | null {
  const [pathname = ''] = path.split('?', 1);
  switch (pathname) {
    case '/v1/models':
    case '/models':
      return modelList(models);
    case '/v1beta/models':
      return { models: models.map((id) => ({ name: `models/${id}`, displayName: id })) };
    case '/api/tags':
      return { models: models.map(ollamaModel) };
    case '/api/version':
      return { version: '0.12.0' };
    default:
      return null;
  }
}

/** Creates the list of models for both Anthropic and OpenAI, whose forms have no fields in conflict. */
function modelList(models: readonly string[]): object {
  return {
    object: 'list',
    data: models.map((id) => ({
      id,
      object: 'model',
      created: 1_735_689_600,
      owned_by: 'fake',
      type: 'model',
      display_name: id,
      created_at: '2025-01-01T00:00:00Z',
    })),
    has_more: false,
    first_id: models[0] ?? null,
    last_id: models.at(-1) ?? null,
  };
}

function ollamaModel(name: string): object {
  return {
    name,
    model: name,
    modified_at: '2025-01-01T00:00:00Z',
    size: 4_000_000_000,
    digest: '0'.repeat(64),
    details: { format: 'gguf', family: 'fake', parameter_size: '8B' },
  };
}
