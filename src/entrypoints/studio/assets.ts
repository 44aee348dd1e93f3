import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import type { PageAssets } from '../../messages/studio/layout.ts';

const HTMX = createRequire(import.meta.url).resolve('htmx.org');
const STYLE = join(PACKAGE_ROOT, 'studio/studio.css');
const SCRIPTS = [
  join(HTMX, '../htmx.min.js'),
  join(HTMX, '../ext/hx-csp.min.js'),
  join(HTMX, '../ext/hx-sse.min.js'),
  join(PACKAGE_ROOT, 'studio/studio.js'),
];

export interface Assets {
  forPages: PageAssets;
  /** Answers for their addresses. */
  routes: Hono;
}

/** Style and scripts, which a browser keeps: their addresses change with their content. */
export function readAssets(): Assets {
  const routes = new Hono();
  const serve = (name: string, type: string, files: readonly string[]): string => {
    const content = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    const address = `/assets/${createHash('sha256').update(content).digest('hex').slice(0, 16)}/${name}`;
    const packed = gzipSync(content, { level: 9 });
    routes.get(address, (context) => {
      context.header('cache-control', 'public, max-age=31536000, immutable');
      context.header('content-type', type);
      context.header('vary', 'accept-encoding');
      if (!/\bgzip\b/.test(context.req.header('accept-encoding') ?? '')) return context.body(content);
      context.header('content-encoding', 'gzip');
      return context.body(new Uint8Array(packed));
    });
    return address;
  };
  const forPages = {
    style: serve('studio.css', 'text/css; charset=utf-8', [STYLE]),
    scripts: [serve('studio.js', 'text/javascript; charset=utf-8', SCRIPTS)],
  };
  return { forPages, routes };
}
