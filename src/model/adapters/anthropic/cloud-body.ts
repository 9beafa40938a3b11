import { isJsonObject, type JsonObject } from '../../../base/json.ts';

/**
 * Converts the body of a Messages request for a cloud: the model, and on some clouds the wish for a stream, are in the
 * address, and the version of the protocol is in the body.
 */
export function toCloudBody(
  body: string,
  version: string,
  { keepsStream }: { readonly keepsStream: boolean },
): string {
  const { model: _model, stream, ...rest }: JsonObject = JSON.parse(body);
  return JSON.stringify({
    anthropic_version: version,
    ...(keepsStream && stream !== undefined && { stream }),
    ...rest,
  });
}

/** Replaces the model in a body by the name of its deployment. */
export function replaceModel(body: string, deployment: string): string {
  const parsed: unknown = JSON.parse(body);
  return isJsonObject(parsed) ? JSON.stringify({ ...parsed, model: deployment }) : body;
}
