import type { WireProtocol } from './wire-request.ts';

/** Finds the protocol of a POST request by its path, in which the version may be missing; null: the path is unknown. */
export function findProtocol(path: string): WireProtocol | null {
  const [pathname = ''] = path.split('?', 1);
  if (/^(\/v1)?\/messages$/.test(pathname)) return 'anthropic';
  if (/^(\/v1)?\/responses$/.test(pathname)) return 'responses';
  if (/^(\/v1)?\/chat\/completions$/.test(pathname)) return 'chat';
  if (/^(\/v1(beta)?)?\/models\/[^/]+:(streamG|g)enerateContent$/.test(pathname)) return 'google';
  return null;
}

/** Creates the body for a GET request; null: the path is unknown. All dates in the body are fixed. */
export function createListing(path: string, models: readonly string[]): object | null {
  const [pathname = ''] = path.split('?', 1);
  switch (pathname) {
    case '/v1/models':
    case '/models':
      return createModelList(models);
    case '/v1beta/models':
      return { models: models.map((id) => ({ name: `models/${id}`, displayName: id })) };
    case '/api/tags':
      return { models: models.map(createOllamaModel) };
    case '/api/version':
      return { version: '0.12.0' };
    default:
      return null;
  }
}

/** Creates a list of models for both Anthropic and OpenAI, which use different field names. */
function createModelList(models: readonly string[]): object {
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

function createOllamaModel(name: string): object {
  return {
    name,
    model: name,
    modified_at: '2025-01-01T00:00:00Z',
    size: 4_000_000_000,
    digest: '0'.repeat(64),
    details: { format: 'gguf', family: 'fake', parameter_size: '8B' },
  };
}
