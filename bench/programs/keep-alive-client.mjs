// The reference for many conversations at the same time: sends the requests in the file at argv[2], those of
// one conversation one after the other, through kept-alive connections. It ignores the answers.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

const { url, conversations } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const agent = new Agent({ keepAlive: true });

function send({ path, headers, body }) {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method: 'POST', headers, agent }, (response) => {
      response.on('data', () => {});
      response.on('end', resolve);
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

await Promise.all(
  conversations.map(async (requests) => {
    for (const one of requests) await send(one);
  }),
);
agent.destroy();
