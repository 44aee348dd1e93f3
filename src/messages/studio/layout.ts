import { html } from 'hono/html';

/** Text for a browser. Values in its template are escaped; nested ones are not escaped again. */
export type Html = ReturnType<typeof html>;

/** Where a page links to its style and scripts. */
export interface PageAssets {
  style: string;
  scripts: readonly string[];
}

/** Who looks at a page, as its header says. */
type ShownViewer =
  /** `signIn`: where to do that, if they can. */
  | { kind: 'nobody'; signIn?: string }
  /** Somebody on the server's own machine. */
  | { kind: 'machine' }
  | { kind: 'person'; login: string; isOperator: boolean; csrf: string };

export interface PageParts {
  title: string;
  viewer: ShownViewer;
  /** The path of this page, which marks its entry in the navigation. */
  path: string;
  assets: PageAssets;
  /** Of this answer; htmx ignores what does not carry it. */
  nonce: string;
  main: Html;
}

const PAGES = [
  ['/', 'Inbox'],
  ['/runs', 'Runs'],
  ['/artifacts', 'Artifacts'],
  ['/chains', 'Chains'],
  ['/skills', 'Skills'],
  ['/insight', 'Insight'],
  ['/report', 'Report'],
] as const;
const OPERATIONS = ['/operations', 'Operations'] as const;

/**
 * htmx without evaluating code and without styles of its own, which the content security policy refuses.
 * https://four.htmx.org/reference/config/
 */
const HTMX = JSON.stringify({
  extensions: 'hx-csp,sse',
  includeIndicatorCSS: false,
  history: false,
  // A person opens and closes what can be opened, and a log that is followed keeps its lines.
  morphIgnore: ['data-htmx-powered', 'open'],
  morphSkipChildren: '[data-follows]',
  // After a restart, pages are there again within seconds.
  sse: { reconnectMaxDelay: 10_000 },
});

/** The mark beside the name, too. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1a6b2f"/><path d="M4 8.5l2.5 2.5L12 5.5" stroke="#fff" stroke-width="2" fill="none"/></svg>',
)}`;

/** A whole page. */
export function page({ title, viewer, path, assets, nonce, main }: PageParts): Html {
  const isOperator = viewer.kind === 'machine' || (viewer.kind === 'person' && viewer.isOperator);
  const entries = isOperator ? [...PAGES, OPERATIONS] : PAGES;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="htmx-config" content="${HTMX}">
<title>${title} · Countersign</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${assets.style}">
${assets.scripts.map((address) => html`<script src="${address}" nonce="${nonce}" defer></script>\n`)}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/">Countersign</a>
<nav class="pages" aria-label="Pages"><ul>
${entries.map(
  ([address, name]) =>
    html`<li><a href="${address}"${isHere(address, path) ? html` aria-current="page"` : ''}>${name}</a></li>\n`,
)}
</ul></nav>
${account(viewer)}
</header>
<main id="main" tabindex="-1">
${main}
</main>
</body>
</html>`;
}

function isHere(address: string, path: string): boolean {
  return address === '/' ? path === '/' : path === address || path.startsWith(`${address}/`);
}

function account(viewer: ShownViewer): Html {
  switch (viewer.kind) {
    case 'nobody':
      return viewer.signIn === undefined
        ? html``
        : html`<a class="account" href="${viewer.signIn}">Sign in</a>`;
    case 'machine':
      return html`<span class="account">Read-only, on this machine</span>`;
    case 'person':
      return html`<form class="account" method="post" action="/sign-out">
<input type="hidden" name="csrf" value="${viewer.csrf}">
<a href="/account">${viewer.login}</a> <button>Sign out</button>
</form>`;
  }
}

/** A page that says one thing, such as an error. */
export function notice({ title, text, signIn }: { title: string; text: string; signIn?: string }): Html {
  return html`<h1>${title}</h1>
<p>${text}</p>${
    signIn === undefined
      ? ''
      : html`
<p><a class="button primary" href="${signIn}">Sign in with GitHub</a></p>`
  }`;
}
