import { startFakeModel, type FakeModel, type FakeModelOptions } from '../../src/testing/index.ts';
import { sendJson } from '../e2e/key-server.ts';
import { serve } from '../model/adapters/support.ts';
import { expectNoViolations } from '../no-violations.ts';

export interface LocalServerOptions {
  /** Answers requests about models; undefined: the request is for the model. */
  readonly findFacts: (path: string, body: string) => object | undefined;
  readonly script: FakeModelOptions['script'];
}

/** A server such as Ollama: it states facts about its models, and a fake model answers. */
export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  readonly model: FakeModel;
}

export async function openLocalServer({
  findFacts,
  script,
}: LocalServerOptions): Promise<LocalServer> {
  const model = await startFakeModel(script === undefined ? {} : { script });
  const server = await serve(async (response, { method, url, body }) => {
    const facts = findFacts(url, body);
    if (facts !== undefined) return sendJson(response, 200, facts);
    const headers = { 'content-type': 'application/json' };
    const sent = method === 'POST' ? { method, headers, body } : { method };
    const answer = await fetch(`${model.url}${url}`, sent);
    const type = answer.headers.get('content-type') ?? '';
    response.writeHead(answer.status, { 'content-type': type });
    response.end(await answer.text());
  });
  return {
    url: server.url,
    model,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await model.close();
      expectNoViolations(model);
    },
  };
}
