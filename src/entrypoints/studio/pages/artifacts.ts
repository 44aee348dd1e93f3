import { Hono } from 'hono';
import { CountersignError } from '../../../core/errors.ts';
import type { Artifact } from '../../../domain/artifact/artifact.ts';
import { VERDICTS } from '../../../domain/outcome/review-verdict.ts';
import {
  artifactListPage,
  artifactPage,
  NO_DOWNLOAD,
  STORE_UNAVAILABLE,
} from '../../../messages/studio/artifacts.ts';
import { notice } from '../../../messages/studio/layout.ts';
import { answerPage, type Env, type Request, type StudioParts } from '../frame.ts';
import { cursorOf, positionOf } from '../run-position.ts';
import { imageTypeOf, isImageSize, shownFileOf } from '../shown-file.ts';

const DAY_MS = 86_400_000;
/** Letters of a download's name. */
const MAX_NAME = 100;

/** The pages of artifacts, and their download. */
export function artifactPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, blobs, githubUrl } = parts;
  const pages = new Hono<Env>();

  pages.get('/artifacts', async (context) => {
    const given = (name: string) => context.req.query(name)?.slice(0, 200) || undefined;
    const query = {
      kind: given('kind'),
      verdict: given('verdict'),
      failed: given('failed'),
      since: given('since'),
      repository: given('repository'),
      text: given('text'),
    };
    const verdict = VERDICTS.find((one) => one === query.verdict);
    const days = /^(\d{1,3})d$/.exec(query.since ?? '')?.[1];
    const after = positionOf(given('after'));
    const found = await storage.read.artifacts.search({
      visible: context.get('visible'),
      ...(query.kind !== undefined && { kind: query.kind }),
      ...(verdict && { verdict }),
      ...(query.failed === '1' && { failed: true }),
      ...(days !== undefined && { since: new Date(clock.now().getTime() - Number(days) * DAY_MS) }),
      ...(query.repository !== undefined && { repository: query.repository }),
      ...(query.text !== undefined && { text: query.text }),
      ...(after && { after }),
    });
    const next = found.next && cursorOf(found.next);
    const main = artifactListPage({ found, query, next, now: clock.now() });
    return answerPage(parts, context, { title: 'Artifacts', main });
  });

  pages.get('/artifacts/:id', async (context) => {
    const shown = await visibleArtifact(context);
    if (!shown) return context.notFound();
    const { artifact, run } = shown;
    const path = artifact.filePath;
    // Without it, the page still shows what it can.
    const facts =
      path === null
        ? undefined
        : await blobs()
            .stat(path)
            .catch(() => undefined);
    const failed = (err: CountersignError) => parts.log.warn({ err, path }, 'an artifact cannot be shown');
    const file = path === null ? undefined : await shownFileOf(blobs(), artifact, facts?.size, failed);
    const main = artifactPage({ artifact, run, githubUrl, size: facts?.size, ...(file && { file }) });
    return answerPage(parts, context, { title: artifact.name, main });
  });

  pages.get('/artifacts/:id/download', async (context) => {
    const shown = await visibleArtifact(context);
    const path = shown?.artifact.filePath;
    const file = path ? await fileAt(path) : undefined;
    if (!shown || !file) return context.notFound();
    if (file === 'unavailable') {
      const words = { title: NO_DOWNLOAD, text: STORE_UNAVAILABLE };
      return answerPage(parts, context, { title: NO_DOWNLOAD, main: notice(words) }, 503);
    }
    // Nothing of a pull request runs or is shown under this server's name: https://www.w3.org/TR/CSP3/#directive-sandbox
    context.header('content-security-policy', "sandbox; default-src 'none'");
    context.header('content-type', 'application/octet-stream');
    context.header('content-disposition', attachment(shown.artifact));
    // If the bytes are damaged, fewer arrive, and the browser says that the download failed.
    context.header('content-length', String(file.size));
    return context.body(ReadableStream.from(file.pieces) as ReadableStream<Uint8Array<ArrayBuffer>>);
  });

  pages.get('/artifacts/:id/image', async (context) => {
    const shown = await visibleArtifact(context);
    const path = shown?.artifact.filePath;
    const image = path ? await imageAt(path) : undefined;
    if (!image) return context.notFound();
    context.header('content-security-policy', "sandbox; default-src 'none'");
    context.header('content-type', image.type);
    return context.body(image.bytes);
  });

  return pages;

  async function visibleArtifact(context: Request) {
    const artifact = await storage.read.artifacts.get(context.req.param('id') ?? '');
    const run = artifact && (await storage.read.runs.get(artifact.runId));
    return artifact && run && context.get('visible').has(run.repositoryId) ? { artifact, run } : undefined;
  }

  /** As a whole, because bytes that are damaged say so only at their end. */
  async function imageAt(path: string) {
    try {
      const facts = await blobs().stat(path);
      const pieces = isImageSize(facts?.size) ? await blobs().open(path) : undefined;
      const read: Uint8Array[] = [];
      for await (const piece of pieces ?? []) {
        read.push(piece);
        if (!imageTypeOf(read[0] ?? piece)) return undefined;
      }
      const bytes = Buffer.concat(read);
      const type = imageTypeOf(bytes);
      return type && { type, bytes };
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
      parts.log.warn({ err: error, path }, 'an artifact cannot be shown');
      return undefined;
    }
  }

  async function fileAt(
    path: string,
  ): Promise<{ size: number; pieces: AsyncIterable<Uint8Array> } | 'unavailable' | undefined> {
    try {
      const facts = await blobs().stat(path);
      const pieces = facts && (await blobs().open(path));
      return pieces && { size: facts.size, pieces };
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
      parts.log.warn({ err: error, path }, 'an artifact cannot be downloaded');
      return error.code === 'storage.unavailable' ? 'unavailable' : undefined;
    }
  }
}

/** https://www.rfc-editor.org/rfc/rfc6266#section-4.1: the name in ASCII for all, and as it is for those who can read it. */
function attachment({ name }: Artifact): string {
  // Its end, which says what it is: a header has little room, and file systems take 255 bytes.
  const last = (name.split('/').at(-1) ?? '').slice(-MAX_NAME).toWellFormed();
  const plain = last.replaceAll(/[^A-Za-z0-9._-]/g, '_') || 'artifact';
  const exact = encodeURIComponent(last).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
