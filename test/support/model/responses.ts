import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface AskedOfStub {
  path: string;
  authorization: string | undefined;
  body: { model?: string; input?: unknown; tools?: { type: string }[]; max_output_tokens?: number };
}

type Item = Record<string, unknown>;

export const message = (text: string): Item => ({
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  content: [{ type: 'output_text', text, annotations: [] }],
});

/** A model server on loopback that streams answers of the Responses protocol: its items, one after another. */
export async function startStubResponses() {
  const asked: AskedOfStub[] = [];
  let answers: Item[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString('utf8'));
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
    const item = answers.length > 1 ? answers.shift() : answers[0];
    const events = [
      { type: 'response.created', response: { id: 'resp_1' } },
      { type: 'response.output_item.done', output_index: 0, item },
      {
        type: 'response.completed',
        response: {
          id: 'resp_1',
          output: [item],
          usage: { input_tokens: 1_200, output_tokens: 34, total_tokens: 1_234 },
        },
      },
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    /** In this order; the last one is repeated. */
    answers: (...items: Item[]) => {
      answers = items;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
