import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a chat's webhook answers: a status, with headers; or nothing, after it has the message. */
type Answer = { status: number; headers?: Record<string, string> } | 'reset';

export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  /** The whole body, as sent. */
  body: string;
  /** Of a message in the format of chats. */
  text: string;
}

/** A chat's incoming webhook on loopback; it answers 200 unless `answers` has something else for the next messages. */
export async function startChat(): Promise<{ url: string; received: ReceivedMessage[]; answers: Answer[] }> {
  const received: ReceivedMessage[] = [];
  const answers: Answer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { text = '' } = JSON.parse(body) as { text?: string };
      received.push({ path: request.url ?? '', headers: request.headers, body, text });
      const answer = answers.shift() ?? { status: 200 };
      if (answer === 'reset') request.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/services/T000/B000/s3cr3t-of-the-webhook`, received, answers };
}
