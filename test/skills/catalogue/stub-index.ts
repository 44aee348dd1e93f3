import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An exported package with one prompt. */
export function exported(name: string, version: string | null, prompt = 'Judge.\n', of = name): string {
  const said = version === null ? '' : `version: ${version}\n`;
  const skill = `---\nname: ${of}\ndescription: Judges names.\n${said}outcome: gate_verdict\n---\n`;
  const files = { 'SKILL.md': skill, 'prompts/ask.md': prompt };
  return JSON.stringify({ format: 'countersign-skill/1', name, files });
}

/** A package's entry in an index, correct by default. */
export function entry(document: string, name: string, version: string, more: Record<string, unknown> = {}) {
  return {
    name,
    version,
    url: `${name}.json`,
    sha256: createHash('sha256').update(document).digest('hex'),
    size: Buffer.byteLength(document),
    ...more,
  };
}

type Answer = string | ((response: ServerResponse) => void);

/** A web server on loopback with the files that a test puts there. It answers with ETags, as real ones do. */
export async function startStubIndex() {
  const files = new Map<string, Answer>();
  const asked: { path: string; status: number }[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const file = files.get(path);
    response.on('close', () => asked.push({ path, status: response.statusCode }));
    if (file === undefined) return response.writeHead(404).end();
    if (typeof file === 'function') return file(response);
    const etag = `"${createHash('sha256').update(file).digest('hex').slice(0, 16)}"`;
    if (request.headers['if-none-match'] === etag) return response.writeHead(304).end();
    return response.writeHead(200, { etag }).end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    origin,
    /** Every request and its answer, in order; reading it clears it. */
    requests: () => asked.splice(0).map(({ path, status }) => `${status} ${path}`),
    put: (path: string, answer: Answer) => void files.set(path, answer),
    /** Puts packages and an index of them into a folder of their own. @returns the index's address. */
    publish(folder: string, documents: readonly [name: string, version: string, document: string][]): string {
      for (const [name, , document] of documents) files.set(`/${folder}/${name}.json`, document);
      const skills = documents.map(([name, version, document]) => entry(document, name, version));
      return this.index(folder, skills);
    },
    index(folder: string, skills: readonly unknown[]): string {
      files.set(`/${folder}/index.json`, JSON.stringify({ format: 'countersign-index/1', skills }));
      return `${origin}/${folder}/index.json`;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
